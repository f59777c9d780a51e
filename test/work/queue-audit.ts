// What is wrong with a journal of work, in words, told from its facts alone: no row is asked. Empty when everything is right.

import type { Store } from '../../src/index.ts'
import { RESERVED_QUEUES, type WorkRow } from '../../src/model/work.ts'

interface Item {
  readonly queue: string
  readonly series: string | undefined
  readonly attempts: number
  /** Where in the journal it was offered: older comes first in its group. */
  readonly born: number
  state: 'ready' | 'claimed' | 'dead'
  attempt: number
  /** The place of its last claim. */
  fence: number
}

export interface Audit {
  readonly complaints: readonly string[]
  /** By the id of the item: under which fence it was completed. */
  readonly completed: ReadonlyMap<string, number>
  readonly cancelled: ReadonlySet<string>
  /** Every id that was ever offered to a queue that people name. */
  readonly offered: ReadonlySet<string>
  /** What is still there, with the state it should be in. */
  readonly left: ReadonlyMap<string, Item['state']>
  /** What happened how often; a claim of what another held is `taken over`. */
  readonly moves: ReadonlyMap<string, number>
}

const FROM: Readonly<Record<string, readonly (Item['state'] | 'none')[]>> = {
  'work.offered': ['none'],
  'work.claimed': ['ready', 'claimed'],
  'work.released': ['claimed'],
  'work.failed': ['claimed'],
  'work.died': ['claimed'],
  'work.completed': ['claimed'],
  'work.cancelled': ['ready', 'claimed', 'dead'],
  'work.redriven': ['dead'],
}

export async function audit(store: Store): Promise<Audit> {
  const complaints: string[] = []
  const [completed, cancelled, offered] = [new Map<string, number>(), new Set<string>(), new Set<string>()]
  const items = new Map<string, Item>()
  const moves = new Map<string, number>()
  for await (const { seq, type, subject = '', data } of store.events({ types: Object.keys(FROM) })) {
    const told = (data ?? {}) as unknown as Partial<WorkRow>
    const item = items.get(subject)
    // Runs and clocks have items too, which move in other ways.
    if (type === 'work.offered' ? RESERVED_QUEUES.some((prefix) => told.queue?.startsWith(prefix)) : !item && !offered.has(subject))
      continue
    const wrong = (why: string) => complaints.push(`${type} at ${seq} of ${subject}: ${why}`)
    if (!FROM[type]?.includes(item?.state ?? 'none')) wrong(`it was ${item?.state ?? 'none'}`)
    const move = type === 'work.claimed' && item?.state === 'claimed' ? 'taken over' : type.slice('work.'.length)
    moves.set(move, (moves.get(move) ?? 0) + 1)
    if (type === 'work.offered') {
      const { queue = '', series, attempts = Infinity } = told
      if (completed.has(subject)) wrong('it was done already')
      items.set(subject, { queue, series, attempts, born: seq, state: 'ready', attempt: 0, fence: 0 })
      offered.add(subject)
    } else if (type === 'work.claimed' && item) {
      if (told.attempt !== item.attempt + 1 || told.attempt > item.attempts) wrong(`attempt ${told.attempt} of ${item.attempts}`)
      for (const [id, other] of items)
        if (item.series !== undefined && other.series === item.series && other.state !== 'dead' && other.born < item.born)
          wrong(`${id} comes first in its group, and is ${other.state}`)
      Object.assign(item, { state: 'claimed', attempt: told.attempt, fence: seq })
    } else if (type === 'work.completed' || type === 'work.cancelled' || type === 'work.redriven') {
      if (type === 'work.completed' && completed.has(subject)) wrong('for the second time')
      if (type === 'work.completed') completed.set(subject, item?.fence ?? 0)
      if (type === 'work.cancelled') cancelled.add(subject)
      items.delete(subject)
    } else if (item) Object.assign(item, { state: type === 'work.died' ? 'dead' : 'ready', attempt: told.attempt ?? item.attempt })
  }
  return { complaints, completed, cancelled, offered, left: new Map([...items].map(([id, { state }]) => [id, state])), moves }
}
