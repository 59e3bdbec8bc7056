import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface AlertRule {
  alert: string;
  expr: string;
  annotations: { summary: string };
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The alerts of deploy/prometheus/alerts.yaml. */
export function readAlertRules(): AlertRule[] {
  const text = readFileSync(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8');
  return (parse(text) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(({ rules }) => rules);
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** The samples of a text in the format of Prometheus. */
export function readSamples(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    return match ? [{ name: match[1] ?? '', labels: labelsOf(match[2] ?? ''), value: Number(match[3]) }] : [];
  });
}

const TERM = /^(sum|min|max)\((?:(increase)\()?(\w+)(?:\{([^}]*)\})?(?:\[\d+m\])?\)+$/;

function matches(sample: Sample, name: string, selector: string): boolean {
  const wanted = [...selector.matchAll(/(\w+)(=~?)"([^"]*)"/g)];
  return (
    sample.name === name &&
    wanted.every(([, label = '', sign, value = '']) => {
      const found = sample.labels[label] ?? '';
      return sign === '=' ? found === value : new RegExp(`^(?:${value})$`).test(found);
    })
  );
}

const NEW_SERIES = /^sum\((.+) unless \1 offset \d+m\)$/;
const seriesOf = ({ name, labels }: Sample): string => JSON.stringify([name, labels]);

/** The value of one aggregation; undefined without a sample. @throws Error for any other term of PromQL */
function valueOf(term: string, before: Sample[], after: Sample[]): number | undefined {
  const [, ofNew] = NEW_SERIES.exec(term.trim()) ?? [];
  if (ofNew !== undefined) {
    const known = new Set(before.map(seriesOf));
    return valueOf(
      `sum(${ofNew})`,
      [],
      after.filter((sample) => !known.has(seriesOf(sample))),
    );
  }
  const match = TERM.exec(term.trim());
  if (!match) throw new Error(`this evaluator knows no ${term}`);
  const [, aggregation, increase, name = '', selector = ''] = match;
  const pick = (samples: Sample[]) =>
    samples.filter((sample) => matches(sample, name, selector)).map(({ value }) => value);
  const values = pick(after);
  if (values.length === 0) return undefined;
  const sum = (numbers: number[]) => numbers.reduce((total, value) => total + value, 0);
  if (increase) return sum(values) - sum(pick(before));
  if (aggregation === 'sum') return sum(values);
  return aggregation === 'min' ? Math.min(...values) : Math.max(...values);
}

/**
 * Whether an expression holds, given the metrics at two moments. It supports comparisons of aggregations, and of ratios
 * of two, with a number, joined by `and`, or by `or`.
 */
export function holds(expr: string, before: string, after: string): boolean {
  const [then, now] = [readSamples(before), readSamples(after)];
  if (expr.includes(' or ')) return expr.split(' or ').some((each) => holds(each, before, after));
  return expr.split(' and ').every((comparison) => {
    const [, left = '', sign, limit] = /^(.*) ([<>]) ([\d.]+)$/.exec(comparison.trim()) ?? [];
    const [value, divisor] = left.split(' / ').map((term) => valueOf(term, then, now));
    if (value === undefined || (divisor === undefined && left.includes(' / '))) return false;
    const compared = value / (divisor ?? 1);
    return sign === '<' ? compared < Number(limit) : compared > Number(limit);
  });
}
