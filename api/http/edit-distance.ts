/**
 * How many letters have to be put in, left out or replaced to make one word of another (Levenshtein), as far as it
 * matters. Takes time in proportion to the product of the lengths.
 * @returns Infinity when it is more than `max`
 */
export function editDistance(from: string, to: string, max: number): number {
  if (Math.abs(from.length - to.length) > max) return Infinity;
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  const distance = above[to.length] ?? Infinity;
  return distance > max ? Infinity : distance;
}
