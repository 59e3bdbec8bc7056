/** Labels and values, one a line, the values in one column. */
export function formatFields(fields: Record<string, string>): string {
  const width = Math.max(...Object.keys(fields).map((label) => label.length));
  return Object.entries(fields)
    .map(([label, value]) => `${label.padEnd(width)}  ${value}`)
    .join('\n');
}

/** Columns as wide as their widest cell, two spaces between them. */
export function formatTable(head: string[], rows: string[][]): string {
  const lines = [head, ...rows];
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
