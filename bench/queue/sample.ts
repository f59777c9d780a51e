// What one item leaves in a store of ours at each step, read from the file itself, so that the floor writes the same and never drifts.

import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { open } from '../../src/index.ts'
import { payload } from '../journal/payload.ts'
import { LEASE, QUEUE } from './ours.ts'

export type Row = Readonly<Record<string, SQLOutputValue>>

/** The item's row after a step, if there still is one, and the events of the step. */
export interface Step {
  readonly row: Row | undefined
  readonly events: readonly Row[]
}

export interface Sample {
  /** The tables `work` and `events` with their indexes and without their triggers. */
  readonly schema: string
  readonly offered: Step
  readonly claimed: Step
  readonly completed: Step
}

const schemaOf = `
  select sql from sqlite_schema where tbl_name in ('work', 'events') and type in ('table', 'index') and sql is not null order by type desc, name`
const eventsAfter = 'select * from events where seq > ? order by seq'
const workRows = 'select * from work'

export async function sampleOf(path: string): Promise<Sample> {
  await using store = await open(path)
  using db = new DatabaseSync(path, { readOnly: true })
  const queue = store.queue(QUEUE)
  let seen = 0
  const look = (): Step => {
    const events = db.prepare(eventsAfter).all(seen)
    seen = (events.at(-1)?.seq as number | undefined) ?? seen
    return { row: db.prepare(workRows).get(), events: events.filter(({ type }) => String(type).startsWith('work.')) }
  }
  await queue.offer(payload(0))
  const offered = look()
  await using claim = await queue.claim({ lease: LEASE })
  const claimed = look()
  await claim?.complete()
  const completed = look()
  const schema = db.prepare(schemaOf).all()
  for (const step of [offered, claimed, completed]) if (step.events.length === 0) throw new Error('a step of an item left no event')
  if (!offered.row || !claimed.row || completed.row)
    throw new Error('an item of ours lives otherwise than bench/queue/raw-sqlite.ts reads it')
  return { schema: schema.map(({ sql }) => `${sql};`).join('\n'), offered, claimed, completed }
}
