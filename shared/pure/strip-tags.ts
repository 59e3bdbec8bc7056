const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ', amp: '&' };
const INLINE_TAG = /^<\/?(?:a|b|i|u|em|strong|span|font|small|sub|sup|code)\b/i;

/** Markup whose content is not text, with its end. */
const WITHOUT_TEXT: readonly { start: RegExp; end: RegExp }[] = [
  { start: /<!--/y, end: /-->/g },
  { start: /<style\b/iy, end: /<\/style\b[^<>]*>/gi },
  { start: /<script\b/iy, end: /<\/script\b[^<>]*>/gi },
  { start: /<title\b/iy, end: /<\/title\b[^<>]*>/gi },
];
const KIND_INITIALS = '!sStT';
const TAG = /<[^<>]*>/y;
/** A document of megabytes may have millions of lines. Only this much of it is split into lines at a time. */
const PIECE_LENGTH = 65_536;

function matchAt(pattern: RegExp, text: string, position: number): number {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Collects lines. Spaces around a line are removed, and so are all but one of several empty lines in a row. */
function createLines() {
  const pieces: string[] = [];
  /** The pieces of a long last line; `open` continues it. */
  let begun: string[] = [];
  let open = '';
  let wasEmpty = true;

  function close(lines: string): void {
    const kept: string[] = [];
    for (const line of lines.split('\n')) {
      const text = line.trim();
      if (text !== '' || !wasEmpty) kept.push(text);
      wasEmpty = text === '';
    }
    if (kept.length > 0) pieces.push(kept.join('\n'));
  }

  return {
    add(text: string): void {
      open += text;
      if (open.length < PIECE_LENGTH) return;
      const end = open.lastIndexOf('\n');
      if (end === -1) {
        begun.push(open);
        open = '';
        return;
      }
      close(begun.join('') + open.slice(0, end));
      begun = [];
      open = open.slice(end + 1);
    },
    finish(): string {
      close(begun.join('') + open);
      return pieces.join('\n').trim();
    },
  };
}

/** Finds the markup, with the text that replaces it. */
function* readMarkup(html: string): Generator<{ start: number; end: number; text: string }> {
  const endless = new Set<RegExp>();
  for (let start = html.indexOf('<'); start !== -1;) {
    const mayBeKind = KIND_INITIALS.includes(html[start + 1] ?? '-');
    const kind = mayBeKind ? WITHOUT_TEXT.find((each) => matchAt(each.start, html, start) !== -1) : undefined;
    const closed = kind && !endless.has(kind.end) ? matchAt(kind.end, html, start) : -1;
    // No end of this kind follows, so it is not searched for again.
    if (kind && closed === -1) endless.add(kind.end);
    const end = closed === -1 ? matchAt(TAG, html, start) : closed;
    if (end !== -1) {
      const isBreak = closed === -1 && !INLINE_TAG.test(html.slice(start, start + 10));
      yield { start, end, text: isBreak ? '\n' : '' };
    }
    start = html.indexOf('<', end === -1 ? start + 1 : end);
  }
}

const ENTITY_LENGTH_MAX = 6;

/** The text between two pieces of markup, in pieces of bounded length that split no entity. */
function* readText(html: string, start: number, end: number): Generator<string> {
  for (let from = start; from < end;) {
    let to = Math.min(from + PIECE_LENGTH, end);
    const entity = to < end ? html.slice(to - ENTITY_LENGTH_MAX, to).lastIndexOf('&') : -1;
    if (entity !== -1) to += entity - ENTITY_LENGTH_MAX;
    yield decodeEntities(html.slice(from, to));
    from = to;
  }
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(lt|gt|quot|#39|nbsp|amp);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

/** The text of HTML without its layout. Time and memory are proportional to its length, for any input. */
export function stripTags(html: string): string {
  const lines = createLines();
  let position = 0;
  for (const { start, end, text } of readMarkup(html)) {
    for (const piece of readText(html, position, start)) lines.add(piece);
    lines.add(text);
    position = end;
  }
  for (const piece of readText(html, position, html.length)) lines.add(piece);
  return lines.finish();
}
