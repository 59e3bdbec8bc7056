/** A request that a shell block makes with curl. Texts may hold the values of variables, see `markOf`. */
export interface ShellRequest {
  method: string;
  /** Without the query, such as `/contacts`. */
  path: string;
  query: Record<string, string>;
  /** Without those that every request has. */
  headers: Record<string, string>;
  /** The variable that holds the key. */
  key: string;
  json?: unknown;
  /** The name of the file that a form sends as `file`. */
  file?: string;
}

/** One line of a block: a request, and what becomes of its answer, or of an answer that a file holds. */
export interface ShellStep {
  request?: ShellRequest;
  /** The file that the answer is written to, or read from. */
  file?: string;
  /** The part of the answer that is taken, as jq names it: `.data.emails[0].email`. */
  pick?: string;
  /** The variable that it is stored in; without one it is printed. */
  variable?: string;
}

type Token = { word: string } | { sign: '|' | '\n' | ')' } | { assigned: string };

/** Stands for the value of a variable inside a text. */
export const markOf = (name: string): string => `\uE000${name}\uE001`;
export const MARKS = /\uE000(\w+)\uE001/g;

const TOKEN =
  /(?<gap>(?:[ \t]|\\\n)+)|(?<assigned>[A-Z_]\w*)=\$\(|(?<sign>[|\n)])|'(?<raw>[^']*)'|"(?<text>(?:[^"\\]|\\[^])*)"|\$\{?(?<name>[A-Z_]\w*)\}?|\\(?<escaped>.)|(?<plain>[\w./:@=,%+-]+)/y;
const IN_QUOTES = /\\(["\\$`])|\$\{?([A-Za-z_]\w*)\}?/g;
const PICK = /^\.(?:\w+|\[\d+\])(?:\.\w+|\[\d+\])*$/;

/** A text in double quotes; undefined when a command is carried out inside. */
function unquote(text: string): string | undefined {
  if (/(?<!\\)(?:`|\$\()/.test(text)) return undefined;
  return text.replaceAll(IN_QUOTES, (whole, escaped?: string, name?: string) =>
    name === undefined ? (escaped ?? whole) : markOf(name),
  );
}

/** The tokens of a block; undefined when it has anything else than words, quotes, variables, pipes and assignments. */
function tokensOf(code: string): Token[] | undefined {
  if (/[\uE000\uE001]/.test(code)) return undefined;
  const tokens: Token[] = [];
  /** The word that goes on without a gap. */
  let word: { word: string } | undefined;
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < code.length;) {
    const groups = TOKEN.exec(code)?.groups;
    if (!groups) return undefined;
    const { gap, assigned, sign, raw, text, name, escaped, plain } = groups;
    const quoted = text === undefined ? undefined : unquote(text);
    if (text !== undefined && quoted === undefined) return undefined;
    const part = raw ?? escaped ?? plain ?? quoted ?? (name === undefined ? undefined : markOf(name));
    if (part === undefined) {
      if (assigned !== undefined && word) return undefined;
      word = undefined;
      if (gap === undefined) tokens.push(assigned === undefined ? { sign: sign as '|' } : { assigned });
    } else if (word) word.word += part;
    else tokens.push((word = { word: part }));
  }
  return tokens;
}

/** A text as JSON, where the values of variables stand only inside of its texts. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the arguments of curl. @returns undefined when one is unknown */
function readCurl(words: readonly string[]): ShellStep | undefined {
  const request: ShellRequest = { method: '', path: '', query: {}, headers: {}, key: '' };
  const start = markOf('EVERPOST_URL');
  const step: ShellStep = { request };
  /** Each returns whether it understands the value. */
  const options: Record<string, (value: string) => boolean> = {
    '-X': (value) => (request.method = value) !== '',
    '-o': (value) => (step.file = value) !== '',
    '-H': (value) => {
      const [name = '', ...rest] = value.split(': ');
      request.headers[name] = rest.join(': ');
      return true;
    },
    '--json': (value) => (request.json = parseJson(value)) !== undefined,
    '-F': (value) => (request.file = /^file=@([\w.-]+)$/.exec(value)?.[1]) !== undefined,
  };
  const rest = words.filter((word) => word !== '-sS');
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word.startsWith(start)) {
      const [path = '', query] = word.slice(start.length).split('?');
      request.path = path;
      request.query = Object.fromEntries(new URLSearchParams(query));
    } else if (!options[word]?.(rest.shift() ?? '')) return undefined;
  }
  const { Authorization = '', ...headers } = request.headers;
  request.key = /^Bearer \uE000(SECRET_KEY|PUBLIC_KEY)\uE001$/.exec(Authorization)?.[1] ?? '';
  request.headers = headers;
  request.method ||= request.json === undefined && request.file === undefined ? 'GET' : 'POST';
  return request.path === '' || request.key === '' ? undefined : step;
}

/** Reads one program of a line. @returns what it adds to the step */
function readCommand([program = '', ...words]: readonly string[], isFirst: boolean): ShellStep | undefined {
  if (program === 'curl') return isFirst ? readCurl(words) : undefined;
  if (program === 'tee') return isFirst || words.length !== 1 ? undefined : { file: words[0] ?? '' };
  if (program !== 'jq') return undefined;
  const [pick = '', file] = words.filter((word) => word !== '-r');
  if (!PICK.test(pick) || isFirst !== (file !== undefined)) return undefined;
  return { pick, ...(file !== undefined && { file }) };
}

/** The words of each program of a line, between its pipes; undefined when anything else is between them. */
function commandsOf(tokens: readonly Token[]): string[][] | undefined {
  const commands: string[][] = [[]];
  for (const token of tokens) {
    if ('word' in token) commands.at(-1)?.push(token.word);
    else if ('sign' in token && token.sign === '|') commands.push([]);
    else return undefined;
  }
  return commands;
}

/** One line: `curl … | tee file`, `NAME=$(curl … | jq -r .id)`, or `NAME=$(jq -r .id file)`. */
function readLine(tokens: Token[]): ShellStep | undefined {
  const [first] = tokens;
  const last = tokens.at(-1);
  const variable = first && 'assigned' in first ? first.assigned : undefined;
  const isClosed = last !== undefined && 'sign' in last && last.sign === ')';
  if ((variable !== undefined) !== isClosed) return undefined;
  const commands = commandsOf(isClosed ? tokens.slice(1, -1) : tokens);
  const parts = commands?.map((command, index) => readCommand(command, index === 0));
  if (!parts?.every((part) => part !== undefined)) return undefined;
  const step: ShellStep = Object.assign(variable === undefined ? {} : { variable }, ...parts) as ShellStep;
  return variable !== undefined && step.pick === undefined ? undefined : step;
}

/**
 * Reads a shell block that does nothing but call the API and take ids out of answers.
 * @returns undefined when it does anything else; it can be shown as it is only
 */
export function readShell(code: string): ShellStep[] | undefined {
  const lines: Token[][] = [[]];
  for (const token of tokensOf(code) ?? [{ word: '' }]) {
    if ('sign' in token && token.sign === '\n') lines.push([]);
    else lines.at(-1)?.push(token);
  }
  const steps = lines.filter((line) => line.length > 0).map(readLine);
  return steps.every((step) => step !== undefined) ? steps : undefined;
}
