// Watches what calls answer and write.

import type { Session, Store } from '../../../src/index.ts'
import { type Call, calls } from './calls.ts'
import type { Known } from './fill.ts'
import { tried } from './look.ts'

export type Line = readonly [name: string, call: Call]

export const all: readonly Line[] = Object.entries(calls)
export const reads = all.filter(([, { does }]) => does === 'reads')
export const writes = all.filter(([, { does }]) => does !== 'reads')

/** Calls after which the others would be refused. */
export const LAST = ['archive', 'reopen', 'delete']
export const withoutLast = (some: readonly Line[]): readonly Line[] => some.filter(([name]) => !LAST.includes(name))

type Said = Readonly<Record<string, string>>

/** What each read answers. */
export async function saidBy(session: Session, known: Known, some: readonly Line[] = reads): Promise<Said> {
  const texts: Record<string, string> = {}
  for (const [name, { call }] of some) texts[name] = (await tried(() => call(session, known))).text
  return texts
}

interface Outcome {
  readonly code: string
  /** The number of events that the call has written. */
  readonly wrote: number
}

export async function outcomesOf(
  store: Store,
  session: Session,
  known: Known,
  some: readonly Line[],
): Promise<Readonly<Record<string, Outcome>>> {
  const outcomes: Record<string, Outcome> = {}
  let { seq } = await store.head()
  for (const [name, { call }] of some) {
    const { code } = await tried(() => call(session, known))
    const { seq: now } = await store.head()
    outcomes[name] = { code, wrote: now - seq }
    seq = now
  }
  return outcomes
}

/** The calls that were not refused with this code, and the events that any of them has written. */
export async function notRefused(code: string, store: Store, session: Session, known: Known, some: readonly Line[]) {
  const { seq } = await store.head()
  const others: string[] = []
  for (const [name, { call }] of some) {
    const told = (await tried(() => call(session, known))).code
    if (told !== code) others.push(`${name}: ${told}`)
  }
  for await (const { type } of store.events({ after: seq })) others.push(`somebody wrote ${type}`)
  return others
}

/** Returns a look at the events that were written since about a session and its rows. */
export async function touchedSince(store: Store, { id }: Session): Promise<() => Promise<readonly string[]>> {
  const rows = new Set<string>([id])
  for await (const { session, subject } of store.events()) if (session === id && subject !== undefined) rows.add(subject)
  const { seq } = await store.head()
  return async () => {
    const about: string[] = []
    for await (const { type, session, subject } of store.events({ after: seq }))
      if (session === id || (subject !== undefined && rows.has(subject))) about.push(`${type} about ${subject}`)
    return about
  }
}

/** Notes which ids a call uses. */
export const watched = (known: Known, used: Set<string>): Known =>
  new Proxy(known, {
    get: (of, name) => {
      used.add(String(name))
      return Reflect.get(of, name)
    },
  })
