/**
 * The value at a dotted path of a JSON value, by the rules of the database function `everpost_field`: own keys only,
 * the longest key first, and null counts as missing.
 */
export function valueAtPath(node: unknown, path: string): unknown {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return undefined;
  const whole = ownValue(node, path);
  if (whole !== undefined && whole !== null) return whole;
  const keys = path.split('.');
  for (let cut = keys.length - 1; cut > 0; cut -= 1) {
    const inner = ownValue(node, keys.slice(0, cut).join('.'));
    const found = valueAtPath(inner, keys.slice(cut).join('.'));
    if (found !== undefined) return found;
  }
  return undefined;
}

function ownValue(node: object, key: string): unknown {
  return Object.hasOwn(node, key) ? Reflect.get(node, key) : undefined;
}
