// A part of an engine that belongs to one feature: made at its first use, once per engine.

import type { Engine } from './scope.ts'

export function enginePart<T>(make: (engine: Engine) => T): (engine: Engine) => T {
  const made = new WeakMap<Engine, { readonly part: T }>()
  return (engine) => {
    const known = made.get(engine)
    if (known) return known.part
    const part = make(engine)
    made.set(engine, { part })
    return part
  }
}
