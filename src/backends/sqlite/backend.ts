// One SQLite file: the journal, the rows and the receipts, for one machine and as many processes on it as needed.

import type { Backend } from '../../ports/backend.ts'
import type { CheckpointPolicy, CheckpointStats } from './checkpoint.ts'
import { fileBackend } from './file.ts'
import type { OpenOptions } from './open.ts'

export interface SqliteOptions extends OpenOptions {
  readonly path: string
  /** Store time; the machine's clock by default. */
  readonly now?: () => number
  readonly checkpoint?: CheckpointPolicy
  /** How long a commit waits for other processes to let go of the file. */
  readonly busyMs?: number
}

export interface SqliteBackend extends Backend {
  readonly checkpoints: () => CheckpointStats
}

export function sqliteBackend(options: SqliteOptions): Promise<SqliteBackend> {
  return fileBackend(options)
}
