// Equality of JSON as RFC 6902 defines it for `test`: numbers by value, strings by their characters, objects without an order of members.

export function jsonEqual(a: unknown, b: unknown): boolean {
  // Also for minus zero and zero, which are the same number.
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => jsonEqual(item, b[i]))
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEqual((a as Members)[key], (b as Members)[key]))
  )
}

type Members = Readonly<Record<string, unknown>>
