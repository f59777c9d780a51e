// A case is one promise of the backend port as data: a sentence, the invariant behind it, and a check that throws when it is broken. It
// needs no test runner; `runCase` returns passed, skipped or failed.

import type { Backend } from '../ports/backend.ts'
import { type Maker, maker } from './material.ts'

export interface OpenOptions {
  /** Store time, for backends that accept a clock. */
  readonly now?: () => number
}

export interface OpenedBackend {
  /** A backend over an empty store. */
  readonly backend: Backend
  /** The backend uses its own clock and ignores `now`; then times are not compared. */
  readonly ownClock?: boolean
  /** The longest time until a commit of another handle is noticed. */
  readonly noticeMs?: number
  /** Checks lists on one index of each shape, not on every index of every table. For backends where every call is a round trip. */
  readonly oneIndexPerShape?: boolean
  /** Closes all handles and opens the same store again. */
  reopen?(): Promise<Backend>
  /** Opens another handle to the same store, as another process would. */
  second?(): Promise<Backend>
  /** Removes the store, once everything is closed. */
  dispose?(): Promise<void>
}

export type OpenBackend = (options?: OpenOptions) => Promise<OpenedBackend>

export type Need = 'reopen' | 'second'

export interface Case {
  /** The promise of a backend, as a sentence. */
  readonly name: string
  readonly group: string
  /** The invariant that is broken when the case fails. */
  readonly invariant: string
  /** The ability that the backend must have for the case to apply. */
  readonly needs?: Need
  /** Throws a Violation when the promise is broken, and Skipped when the backend does not make it. */
  check(open: OpenBackend): Promise<void>
}

/** The backend under test, and the tools that a case needs. */
export interface Bench {
  readonly backend: Backend
  readonly make: Maker
  readonly noticeMs: number
  readonly oneIndexPerShape: boolean
  reopen(): Promise<Backend>
  second(): Promise<Backend>
}

export class Violation extends Error {
  override readonly name = 'Violation'
  readonly invariant: string
  readonly case: string

  constructor(invariant: string, name: string, cause: unknown) {
    super(`${invariant} (${name}): ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.invariant = invariant
    this.case = name
  }
}

export class Skipped extends Error {
  override readonly name = 'Skipped'
}

export type Result =
  | { readonly status: 'passed' }
  | { readonly status: 'skipped'; readonly reason: string }
  | { readonly status: 'failed'; readonly error: Error }

export async function runCase(one: Case, open: OpenBackend): Promise<Result> {
  try {
    await one.check(open)
    return { status: 'passed' }
  } catch (error) {
    if (error instanceof Skipped) return { status: 'skipped', reason: error.message }
    return { status: 'failed', error: error instanceof Error ? error : new Error(String(error)) }
  }
}

type Body = (bench: Bench) => Promise<void>

const reasons: Readonly<Record<Need, string>> = {
  reopen: 'the store lives only as long as its handle: opening gave no reopen()',
  second: 'one handle is all there is: opening gave no second()',
}

/** Creates the cases of one group. */
export function group(name: string): (invariant: string, sentence: string, body: Body, needs?: Need) => Case {
  return (invariant, sentence, body, needs) => ({
    name: sentence,
    group: name,
    invariant,
    ...(needs && { needs }),
    check: async (open) => {
      const opened = await open()
      const handles = [opened.backend]
      const more = async (need: Need): Promise<Backend> => {
        const make = opened[need]
        if (!make) throw new Skipped(reasons[need])
        const backend = await make.call(opened)
        handles.push(backend)
        return backend
      }
      try {
        if (needs && !opened[needs]) throw new Skipped(reasons[needs])
        await body({
          backend: opened.backend,
          make: maker(),
          noticeMs: opened.noticeMs ?? 2000,
          oneIndexPerShape: opened.oneIndexPerShape ?? false,
          reopen: () => more('reopen'),
          second: () => more('second'),
        })
      } catch (error) {
        throw error instanceof Skipped ? error : new Violation(invariant, sentence, error)
      } finally {
        for (const handle of handles) await handle.close()
        await opened.dispose?.()
      }
    },
  })
}
