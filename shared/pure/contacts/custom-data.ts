/** The types that are inferred for custom fields. */
export const FIELD_TYPES = ['string', 'number', 'boolean', 'date'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** Keys that Everpost sets itself. A caller's value for one of them is dropped without an error. */
export const RESERVED_DATA_KEYS: ReadonlySet<string> = new Set([
  'id',
  'svc_id',
  'svc_email',
  'email',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
]);

/** The one key that no data has: programs that copy an object would set its prototype instead. */
export const FORBIDDEN_KEY = '__proto__';

const DATE_PATTERN = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z)?$/;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unwrap(value: unknown): { value: unknown; isStored: boolean } {
  if (isObject(value) && Object.hasOwn(value, 'value') && typeof value['persistent'] === 'boolean') {
    return { value: value['value'], isStored: value['persistent'] };
  }
  return { value, isStored: true };
}

/**
 * Sorts a request's `data` into what is stored, deleted and only used now: null deletes, an empty string is ignored,
 * `{ value, persistent: false }` is not stored, reserved keys are dropped. The records have no prototype, so a key
 * named `__proto__` is a key like any other.
 */
export function readDataPatch(data: Record<string, unknown> | undefined) {
  /** Keys to store, with their values. */
  const stored = Object.create(null) as Record<string, unknown>;
  /** All values of this request, including those used for this send or event only. */
  const values = Object.create(null) as Record<string, unknown>;
  /** Keys to delete from the contact. */
  const removed: string[] = [];
  for (const [key, raw] of Object.entries(data ?? {})) {
    if (RESERVED_DATA_KEYS.has(key)) continue;
    const { value, isStored } = unwrap(raw);
    if (value === '') continue;
    if (value === null) {
      if (isStored) removed.push(key);
      continue;
    }
    values[key] = value;
    if (isStored) stored[key] = value;
  }
  return { stored, removed, values };
}

/** The meaning of a caller's `data` for one contact. */
export type DataPatch = ReturnType<typeof readDataPatch>;

/** The type of a value for the field catalogue. Arrays, objects and all other values count as strings. */
export function inferFieldType(value: unknown): FieldType {
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string' && DATE_PATTERN.test(value) && !Number.isNaN(Date.parse(value))) return 'date';
  return 'string';
}
