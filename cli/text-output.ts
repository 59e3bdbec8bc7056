/** A text of somebody else in one line: control characters would break a table, or give orders to the terminal. */
const inOneLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\uFFFD');

/** Labels and values, one a line, the values in one column. */
export function formatFields(fields: Record<string, string>): string {
  const width = Math.max(...Object.keys(fields).map((label) => label.length));
  return Object.entries(fields)
    .map(([label, value]) => `${label.padEnd(width)}  ${inOneLine(value)}`)
    .join('\n');
}

/** Columns as wide as their widest cell, two spaces between them. */
export function formatTable(head: string[], rows: string[][]): string {
  const lines = [head, ...rows.map((cells) => cells.map(inOneLine))];
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
