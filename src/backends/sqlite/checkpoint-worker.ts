// The code of a checkpoint thread: copies the write-ahead log into the file, or checks the pages, on its own connection to each file.

import { DatabaseSync } from 'node:sqlite'
import { parentPort } from 'node:worker_threads'
import { type Extent, misplacedEvents } from '../../model/misplaced.ts'
import type { CheckpointAnswer, CheckpointFile, CheckpointOrder } from './checkpoint-thread.ts'

// Node 22 warns of its SQLite in every thread that loads it; once, by the thread that opened the store, is enough.
process.removeAllListeners('warning')

const files = new Map<string, DatabaseSync>()

function connectionTo({ name, readOnly, synchronous }: CheckpointFile): DatabaseSync {
  const known = files.get(name)
  if (known) return known
  // A passive copy never waits. A check may have to, while another process recovers the log.
  const db = new DatabaseSync(name, { readOnly, timeout: 5000 })
  try {
    db.exec(`pragma trusted_schema = off; pragma synchronous = ${synchronous}; pragma wal_autocheckpoint = 0`)
  } catch (error) {
    db.close()
    throw error
  }
  files.set(name, db)
  return db
}

function answerTo(order: CheckpointOrder): CheckpointAnswer {
  switch (order.work) {
    case 'copy': {
      const { log, checkpointed } = connectionTo(order).prepare('pragma wal_checkpoint(passive)').get() as {
        log: number
        checkpointed: number
      }
      return { log, checkpointed }
    }
    case 'check': {
      try {
        const lines = connectionTo(order)
          .prepare('pragma integrity_check(20)')
          .all()
          .map((row) => String(row.integrity_check))
        // Damaged pages cannot be counted on.
        return { damage: lines.every((line) => line === 'ok') ? [...lines, ...misplaced(connectionTo(order))] : lines }
      } finally {
        // Checks are rare, so their connection is closed.
        leave(order)
      }
    }
    case 'leave':
      leave(order)
      return { left: true }
  }
}

const extents = `
  select h.tenant, h.seq as head, count(e.seq) as events, coalesce(max(e.seq), 0) as last
  from (select tenant, seq from heads where tenant > ? order by tenant limit ?) h left join events e on e.tenant = h.tenant
  group by h.tenant order by h.tenant`
// Each page is a read of its own, so that the log can begin again in between.
const TENANTS_AT_A_TIME = 1000

function misplaced(db: DatabaseSync): readonly string[] {
  const told: string[] = []
  const read = db.prepare(extents)
  for (let after = ''; ; ) {
    const page = read.all(after, TENANTS_AT_A_TIME) as unknown as readonly Extent[]
    told.push(...page.flatMap((extent) => misplacedEvents(extent) ?? []))
    const last = page.at(-1)
    if (last === undefined || page.length < TENANTS_AT_A_TIME) return told
    after = last.tenant
  }
}

function leave({ name }: CheckpointFile): void {
  files.get(name)?.close()
  files.delete(name)
}

parentPort?.on('message', (order: CheckpointOrder) => {
  let answer: CheckpointAnswer
  try {
    answer = answerTo(order)
  } catch (error) {
    answer = { failed: error instanceof Error ? error.message : String(error), errcode: (error as { errcode?: number }).errcode }
  }
  parentPort?.postMessage(answer)
})
