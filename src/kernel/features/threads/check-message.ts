// Checks that a value is a UI message of the AI SDK. Unknown members and parts of an unknown type are kept.

import { type Json, takeExact } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { looking } from '../../../model/options.ts'
import { MESSAGE_ROLES } from '../../../model/thread.ts'
import type { Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { partsIn } from '../values/parts.ts'
import { checkPart, type Flaw, isObject, type JsonObject, neededBy } from './check-part.ts'
import { isOldPart } from './import-messages.ts'
import type { AnyMessage } from './stored-message.ts'

/**
 * Copies a message while checking it. Members that are undefined are left out, as in JSON text. The parts of a message that is being streamed
 * are what its chunks made of them: each chunk was checked, and a part may still be incomplete.
 */
export function takeMessage(scope: Scope, given: unknown, streamed = false): AnyMessage & JsonObject {
  const taken = copyMessage(scope, given)
  const id = isObject(taken) ? taken.id : undefined
  const flaw: Flaw = (why, path) => refuse('MESSAGE_INVALID', { message: typeof id === 'string' ? id.slice(0, 80) : null, why, path })
  return telling(scope, () => {
    if (!isObject(taken)) throw flaw('it is not an object', '$')
    if (taken.content !== undefined && (!Array.isArray(taken.parts) || taken.parts.some(isOldPart)))
      throw flaw('it has `content`, as messages of AI SDK 4 and of models have, and `thread.import` takes those', '$.content')
    if (typeof id !== 'string' || id === '') throw flaw('it has no id', '$.id')
    if (!(MESSAGE_ROLES as readonly unknown[]).includes(taken.role)) throw flaw(`its role is not ${MESSAGE_ROLES.join(', ')}`, '$.role')
    if (!Array.isArray(taken.parts)) throw flaw('it has no parts', '$.parts')
    // An answer that ended before its first part is one; nobody asks without saying something.
    if (taken.parts.length === 0 && taken.role !== 'assistant') throw flaw('it has no parts', '$.parts')
    if (partsIn(taken).length > 0) throw flaw('it contains a part of a stored value', '$')
    if (!streamed)
      taken.parts.forEach((part: Json, i) => {
        checkPart(id, part, `$.parts[${i}]`, flaw)
      })
    return taken as AnyMessage & JsonObject
  })
}

/** Copies a message without checking its parts. Members that are undefined are left out, or null where a part needs them. */
export const copyMessage = (scope: Scope, given: unknown): Json =>
  telling(scope, () => takeExact(looking('a message', () => withNulls(given as { readonly parts?: unknown } | null))))

export const defined = (given: unknown): unknown =>
  looking('a message', () => withoutUndefined(withNulls(given as { readonly parts?: unknown } | null), 0))

/** A tool that returns nothing has an output all the same, and so has a call without arguments: JSON knows no undefined. */
function withNulls(given: { readonly parts?: unknown } | null): unknown {
  const parts = typeof given === 'object' && given !== null && Array.isArray(given.parts) ? (given.parts as readonly unknown[]) : []
  const filled = parts.map((part) => {
    const names = isObject(part) ? neededBy(part).filter((name) => name in part && part[name] === undefined) : []
    return names.length === 0 ? part : { ...(part as object), ...Object.fromEntries(names.map((name) => [name, null])) }
  })
  return filled.some((part, i) => part !== parts[i]) ? { ...given, parts: filled } : given
}

const DEPTH = 600

/** The AI SDK leaves members undefined that JSON text leaves out. Returns the same reference if there is none. */
export function withoutUndefined(value: unknown, depth: number): unknown {
  // A cycle ends here; the check of the data refuses it.
  if (typeof value !== 'object' || value === null || depth > DEPTH) return value
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const item = withoutUndefined(value[i], depth + 1)
      if (item !== value[i]) copy ??= [...value]
      if (copy) copy[i] = item
    }
    return copy ?? value
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  let changed = false
  const entries = Object.entries(value).flatMap(([key, member]) => {
    const kept = withoutUndefined(member, depth + 1)
    changed ||= kept !== member || kept === undefined
    return kept === undefined ? [] : [[key, kept] as const]
  })
  return changed ? Object.fromEntries(entries) : value
}
