// Checks the changes of `state.write` before anything is stored: each sets or deletes one key, and no key stands twice.

import { limits } from '../../../model/limits.ts'
import { checkKey, checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'

export interface SetStateOptions {
  /** The entry counts as absent after this time. Without it, it stays. */
  readonly ttl?: Duration
  /** The revision that the entry must have; 0 means that there is none. Refused with STATE_CHANGED otherwise. */
  readonly expect?: number
  /** Masks secrets first. By default the value is stored exactly. */
  readonly redact?: boolean
}

/** One change of several: `{ set: key, value }`, with the options of `set`, or `{ delete: key }`. */
export type StateChange =
  | (SetStateOptions & { readonly set: string; readonly value: unknown; readonly delete?: never })
  | { readonly delete: string; readonly expect?: number; readonly set?: never }

/** A change as it was checked. Without `set` it deletes. */
export interface TakenChange {
  readonly key: string
  readonly expect?: number | undefined
  readonly set?: { readonly value: unknown; readonly redact: boolean; readonly ttlMs: number | undefined }
}

export function takeChanges(given: readonly StateChange[]): readonly TakenChange[] {
  if (!Array.isArray(given)) throw invalidOption('changes', 'an array of changes', given)
  if (given.length > limits.stateChanges) throw invalidOption('changes', `at most ${limits.stateChanges} changes`, given.length)
  // Array.from fills the holes of a sparse array, which are no changes.
  const changes = Array.from(given, takeChange)
  const keys = new Set<string>()
  for (const { key } of changes) {
    if (keys.has(key)) throw invalidOption('changes', 'one change of each key; one stands twice', key)
    keys.add(key)
  }
  return changes
}

function takeChange(given: StateChange, at: number): TakenChange {
  const own = optionsOf(given, 'changes')
  if ('set' in own === 'delete' in own) throw invalidOption('changes', 'objects with either `set` or `delete`', own)
  const of = `change ${at} of state.write`
  if ('delete' in own) {
    const { delete: key, ...options } = own as { readonly delete: string }
    return takeDelete(key, options, of)
  }
  const { set: key, value, ...options } = own as SetStateOptions & { readonly set: string; readonly value: unknown }
  return takeSet(key, value, options, of)
}

export function takeSet(key: string, value: unknown, options: SetStateOptions | undefined, of: string): TakenChange {
  const { ttl, expect, redact = false, ...unknown } = optionsOf(options, of)
  checkKnown(unknown, of)
  checkEntry(key, expect)
  if (typeof redact !== 'boolean') throw invalidOption('redact', 'true or false', redact)
  const ttlMs = ttl === undefined ? undefined : milliseconds(ttl)
  if (ttlMs === 0) throw invalidOption('ttl', 'a time above zero', ttl)
  return { key, expect, set: { value, redact, ttlMs } }
}

export function takeDelete(key: string, options: { readonly expect?: number | undefined } | undefined, of: string): TakenChange {
  const { expect, ...unknown } = optionsOf(options, of)
  checkKnown(unknown, of)
  checkEntry(key, expect)
  return { key, expect }
}

function checkEntry(key: string, expect: unknown): void {
  checkKey(key)
  if (expect !== undefined && (!Number.isSafeInteger(expect) || (expect as number) < 0))
    throw invalidOption('expect', 'a revision, or 0 for none', expect)
}
