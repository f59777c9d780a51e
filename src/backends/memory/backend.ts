// The oracle: the shortest correct reading of the ports, kept in memory. Other backends are compared with it step by step, and
// `open(':memory:')` runs on it.

import { refuse } from '../../model/errors.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Clock, Digest, Entropy } from '../../ports/environment.ts'
import { audit } from './audit.ts'
import { blobs } from './blobs.ts'
import { applyCommit } from './commit.ts'
import { journalReads } from './journal.ts'
import { leases } from './leases.ts'
import { queries } from './queries.ts'
import { rowReads } from './rows.ts'
import { emptyState } from './state.ts'
import { texts } from './texts.ts'
import { upkeep } from './upkeep.ts'
import { values } from './values.ts'
import { localSignals } from './wakeups.ts'
import { workers } from './workers.ts'

export interface MemoryWorld {
  readonly clock: Pick<Clock, 'now'>
  readonly digest: Pick<Digest, 'sha256'>
  readonly entropy: Entropy
}

export function memoryBackend(world: MemoryWorld): Backend {
  const state = emptyState()
  const wakeups = localSignals()
  let closed = false
  const checkOpen = (): void => {
    if (closed) throw refuse('STORE_CLOSED')
  }
  const storeTime = (): number => {
    checkOpen()
    return world.clock.now()
  }
  return {
    name: 'memory',
    traits: { durable: false, network: false, shared: false, wall: 'statements' },
    commit: async (batch) => {
      checkOpen()
      const outcomes = batch.map((commit) => applyCommit(state, commit, world.digest.sha256, world.clock.now()))
      for (const tenant of new Set(batch.map((commit) => commit.tenant))) wakeups.wake(tenant)
      return outcomes
    },
    journal: journalReads(state),
    rows: rowReads(state),
    queries: queries(state, storeTime),
    leases: leases(state, storeTime),
    blobs: blobs(state, storeTime),
    texts: texts(state),
    values: values(state),
    audit: audit(state, checkOpen),
    workers: workers(state, storeTime, checkOpen),
    wakeups,
    upkeep: upkeep(state, world.entropy),
    close: async () => {
      closed = true
    },
  }
}
