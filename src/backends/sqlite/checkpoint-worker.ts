// The thread that copies the write-ahead log into the file, on a connection of its own. It knows nothing but its name.

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { CheckpointAnswer, CheckpointOrder } from './checkpoint.ts'

const { name, readOnly, synchronous } = workerData as { name: string; readOnly: boolean; synchronous: string }
// Copying passively never waits; a check may have to, while the log is recovered elsewhere.
const db = new DatabaseSync(name, { readOnly, timeout: 5000 })
db.exec(`pragma synchronous = ${synchronous}; pragma wal_autocheckpoint = 0`)
const passive = db.prepare('pragma wal_checkpoint(passive)')

parentPort?.on('message', (order: CheckpointOrder) => {
  let answer: CheckpointAnswer
  try {
    if (order === 'check') {
      answer = {
        damage: db
          .prepare('pragma integrity_check(20)')
          .all()
          .map((row) => String(row.integrity_check)),
      }
    } else {
      const { log, checkpointed } = passive.get() as { log: number; checkpointed: number }
      answer = { log, checkpointed }
    }
  } catch (error) {
    answer = { failed: error instanceof Error ? error.message : String(error), errcode: (error as { errcode?: number }).errcode }
  }
  parentPort?.postMessage(answer)
})
