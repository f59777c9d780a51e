// The references in the data of events that are appended: which must exist, and which are declared if they exist.

import { isValueRef } from '../../model/value.ts'
import type { Outcome } from '../../ports/commit.ts'
import type { Scope } from '../wiring/scope.ts'
import { absentOf } from './doubtful.ts'
import { type Found, fromOutside, guarded, referencesInText } from './references.ts'

const NO_REFS: readonly string[] = []
const NONE: ReadonlyMap<string, string> = new Map()

export interface Referring {
  /** References to values and blobs that are declared. */
  readonly refs?: readonly string[] | undefined
  /** The references in the data. */
  readonly found?: Found | undefined
}

/** The declared references and those in the payload. Values that must exist are declared. A run records what came from `outside`. */
export function referring(payload: string, refs: readonly string[] | undefined, outside: boolean): Referring {
  const inside = referencesInText(payload)
  const found = outside ? fromOutside(inside) : inside
  if (found.must.size + found.may.size === 0) return { refs, found: undefined }
  const named = [...found.must.keys()].filter(isValueRef)
  return { refs: named.length === 0 ? refs : [...(refs ?? NO_REFS), ...named], found }
}

interface FoundInEvents {
  /** The path of each reference in the data. */
  readonly places: ReadonlyMap<string, string>
  /** References that need not exist. */
  readonly doubtful: readonly string[]
}

const NOTHING_FOUND: FoundInEvents = { places: NONE, doubtful: NO_REFS }

export function foundIn(events: readonly Referring[]): FoundInEvents {
  if (events.every(({ found }) => found === undefined)) return NOTHING_FOUND
  const [places, may] = [new Map<string, string>(), new Set<string>()]
  for (const { found } of events)
    for (const [reference, at] of found?.may ?? NONE) {
      places.set(reference, at)
      may.add(reference)
    }
  for (const { found, refs } of events) {
    for (const [reference, at] of found?.must ?? NONE) places.set(reference, at)
    for (const reference of [...(found?.must.keys() ?? NO_REFS), ...(refs ?? NO_REFS)]) may.delete(reference)
  }
  return { places, doubtful: [...may] }
}

/** Errors and data from outside declare the values that they name and that are there. */
export function withKept<T extends Referring>(event: T, absent: ReadonlySet<string>): T {
  const kept = [...(event.found?.may.keys() ?? NO_REFS)].filter((reference) => isValueRef(reference) && !absent.has(reference))
  return kept.length > 0 ? { ...event, refs: [...(event.refs ?? NO_REFS), ...kept] } : event
}

/** The references that are absent, if a commit was refused for one that need not exist. */
export async function absentAfter(
  scope: Scope,
  doubtful: readonly string[],
  { refused }: Outcome & { readonly ok: false },
): Promise<ReadonlySet<string> | undefined> {
  const missing = doubtful.length > 0 && typeof refused === 'object' ? guarded(refused) : NO_REFS
  if (!missing.some((reference) => doubtful.includes(reference))) return undefined
  return new Set([...(await absentOf(scope, doubtful)), ...missing])
}
