// What the checkpoint thread runs: it copies the write-ahead log into the file, on a connection of its own to each file it is asked for.

import { DatabaseSync } from 'node:sqlite'
import { parentPort } from 'node:worker_threads'
import type { CheckpointAnswer, CheckpointFile, CheckpointOrder } from './checkpoint-thread.ts'

const files = new Map<string, DatabaseSync>()

function connectionTo({ name, readOnly, synchronous }: CheckpointFile): DatabaseSync {
  const known = files.get(name)
  if (known) return known
  // Copying passively never waits; a check may have to, while the log is recovered elsewhere.
  const db = new DatabaseSync(name, { readOnly, timeout: 5000 })
  try {
    db.exec(`pragma synchronous = ${synchronous}; pragma wal_autocheckpoint = 0`)
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
      const lines = connectionTo(order).prepare('pragma integrity_check(20)').all()
      return { damage: lines.map((row) => String(row.integrity_check)) }
    }
    case 'leave':
      files.get(order.name)?.close()
      files.delete(order.name)
      return { left: true }
  }
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
