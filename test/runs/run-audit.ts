// Audits a journal of runs and lists complaints: outcomes recorded twice or never, effects done more often than they had to be, waits
// that ended twice. The list is empty when everything is right.

import type { Store } from '../../src/index.ts'
import type { Sent } from './full-program.ts'

export interface Recorded {
  /** How often each outcome stands in the journal. */
  readonly settled: ReadonlyMap<string, number>
  /** Attempts whose end is known: failed and to be tried again, or settled. */
  readonly known: ReadonlySet<string>
  /** How often each other fact stands there that may stand there once. */
  readonly once: ReadonlyMap<string, number>
}

interface Slotted {
  readonly branch: string
  readonly name: string
  readonly ordinal: number
  readonly kind?: string
  readonly attempt?: number
}

const IN_SLOTS = ['wait.began', 'wait.ended', 'race.won', 'run.used']
const ONCE = ['plan.changed', 'run.finished', 'run.opened', 'signal.sent', 'signal.taken', 'approval.decided']

/** Runs are told apart by their name, so that two journals can be compared. */
export async function readJournal(store: Store): Promise<Recorded> {
  const settled = new Map<string, number>()
  const known = new Set<string>()
  const once = new Map<string, number>()
  const names = new Map<string, string>((await store.runs.list({ last: 1000 })).items.map(({ id, name }) => [id, name]))
  const count = (of: Map<string, number>, key: string) => of.set(key, (of.get(key) ?? 0) + 1)
  for await (const { type, run, data } of store.events()) {
    const { branch, name, ordinal, kind = 'effect', attempt } = (data ?? {}) as Slotted
    const slot = `${names.get(run ?? '')}: ${kind} ${name} #${ordinal} in '${branch}'`
    if (type === 'effect.settled' || type === 'effect.resolved') count(settled, slot)
    if (type === 'effect.settled' || type === 'effect.retried') known.add(`${name}/${attempt}`)
    if (IN_SLOTS.includes(type)) count(once, `${type} ${slot}`)
    if (ONCE.includes(type)) count(once, `${type} ${names.get(run ?? '') ?? ''}`)
  }
  return { settled, known, once }
}

const attemptOf = ({ name, attempt }: Sent): string => `${name}/${attempt}`

/** What was done outside and stands nowhere yet: it may be done once more, and nothing else may. */
export const inDoubt = (sent: readonly Sent[], { known }: Recorded): ReadonlySet<string> =>
  new Set(sent.map(attemptOf).filter((attempt) => !known.has(attempt)))

/** `clean` is what the journal says when nobody dies. */
export function complaints(recorded: Recorded, clean: Recorded, sent: readonly Sent[], doubted: ReadonlySet<string>): readonly string[] {
  const wrong: string[] = []
  for (const slot of clean.settled.keys()) if (!recorded.settled.has(slot)) wrong.push(`no outcome: ${slot}`)
  for (const [slot, times] of recorded.settled) {
    if (times > 1) wrong.push(`${times} outcomes: ${slot}`)
    if (!clean.settled.has(slot)) wrong.push(`not to be done: ${slot}`)
  }
  for (const fact of new Set([...clean.once.keys(), ...recorded.once.keys()])) {
    const times = recorded.once.get(fact) ?? 0
    // A branch that lost may have been left before it began, or may never have come to say that it left.
    if (times > 1 || (times === 0 && !fact.includes('.slow'))) wrong.push(`${times} times: ${fact}`)
  }
  for (const [attempt, all] of Map.groupBy(sent, attemptOf)) {
    const most = doubted.has(attempt) ? 2 : 1
    if (all.length > most) wrong.push(`done ${all.length} times instead of ${most}: ${attempt}`)
  }
  for (const [name, all] of Map.groupBy(sent, (one) => one.name))
    if (new Set(all.map(({ key }) => key)).size > 1) wrong.push(`another key each time: ${name}`)
  return wrong
}
