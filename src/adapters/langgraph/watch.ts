// Watches: what a live object looked like when it was saved or read. An object that still looks the same need not be serialized again. Members
// are compared by name and identity, and nested objects by their own watches, so an edit at any depth is seen.

export interface Watch {
  readonly target: object
  /** Absent for an array. */
  readonly keys: readonly string[] | undefined
  readonly values: readonly unknown[]
  readonly inner: readonly Watch[]
}

const DEPTH_MOST = 32

/** Undefined for an object whose content cannot be seen from outside: a Map, a Date, an instance of an unknown class. */
export function watch(target: unknown): Watch | null | undefined {
  if (!isObject(target)) return null
  return watchObject(target, new Map(), 0)
}

function watchObject(target: object, seen: Map<object, Watch | undefined>, depth: number): Watch | undefined {
  if (depth > DEPTH_MOST || !isOpen(target)) return undefined
  // A cycle is never the same.
  seen.set(target, undefined)
  const keys: string[] = []
  const values: unknown[] = []
  const inner: Watch[] = []
  const isArray = Array.isArray(target)
  for (const key in target) {
    const value = (target as Record<string, unknown>)[key]
    keys.push(key)
    values.push(value)
    if (!isObject(value)) continue
    // An object that stands in two places is watched once.
    if (seen.has(value)) {
      if (!seen.get(value)) return undefined
      continue
    }
    const below = watchObject(value, seen, depth + 1)
    if (!below) return undefined
    inner.push(below)
  }
  if (isArray && keys.length !== target.length) return undefined
  const made = { target, keys: isArray ? undefined : keys, values, inner }
  seen.set(target, made)
  return made
}

export function isSame({ target, keys, values, inner }: Watch): boolean {
  if (keys) {
    let i = 0
    for (const key in target) {
      if (key !== keys[i] || (target as Record<string, unknown>)[key] !== values[i]) return false
      i++
    }
    if (i !== keys.length) return false
  } else {
    const items = target as readonly unknown[]
    if (items.length !== values.length) return false
    for (let i = 0; i < values.length; i++) if (items[i] !== values[i]) return false
  }
  for (const below of inner) if (!isSame(below)) return false
  return true
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Whether all content is in enumerable members: plain objects, arrays, and serializable objects of LangChain. */
function isOpen(target: object): boolean {
  if ((target as { lc_serializable?: unknown }).lc_serializable === true) return true
  const prototype = Object.getPrototypeOf(target)
  if (prototype !== Object.prototype && prototype !== null && prototype !== Array.prototype) return false
  return typeof (target as { toJSON?: unknown }).toJSON !== 'function'
}
