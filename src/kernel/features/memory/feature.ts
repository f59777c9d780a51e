// Long-term memory of a tenant, and core memory of sessions and users.

import { isId, type SessionId } from '../../../model/ids.ts'
import type { Feature } from '../../feature.ts'
import { refuseDeleted } from '../../session/refuse-deleted.ts'
import type { Scope } from '../../wiring/scope.ts'
import { BACKFILL_CLOCK, backfillByClock } from './backfill-clock.ts'
import { type CoreMemory, clearCore, coreMemory, forkCore, sessionOwner } from './core.ts'
import { coreBlock } from './core-decider.ts'
import { purge } from './forget.ts'
import { item } from './item-decider.ts'
import { keepMaintaining, maintainMemory } from './maintain-memory.ts'
import { type StoreMemory, storeMemory } from './memory.ts'
import { checkMemoryOptions } from './options.ts'
import type { Hits, RecallOptions } from './recall.ts'
import type { RememberOptions } from './remember.ts'
import { recallInRun } from './run-recall.ts'
import { type RememberedItem, rememberInRun } from './run-remember.ts'

export interface MemoryMembers {
  /** Texts that are remembered, found again and forgotten. */
  readonly memory: StoreMemory
}

export interface SessionMemoryMembers {
  /** Named blocks that are always in the prompt of this session. */
  readonly core: CoreMemory
}

export interface RunMemoryMembers {
  /** Finds items of memory. The hits are recorded, so that replay sees the same ones. */
  recall(text: string, options?: RecallOptions): Promise<Hits>
  /** Remembers a text once, however often the run is replayed. */
  remember(text: string, options?: RememberOptions): Promise<RememberedItem>
}

export const memory: Feature<MemoryMembers, SessionMemoryMembers, RunMemoryMembers> = {
  name: 'memory',
  deciders: [item, coreBlock],
  refs: 'texts and vectors stand in the rows',
  onOpen: (engine) => {
    checkMemoryOptions(engine.options.memory)
    keepMaintaining(engine)
  },
  onSessionDeleted: clearSession,
  onForked: forkCore,
  clocks: { [BACKFILL_CLOCK]: backfillByClock },
  onMaintain: async (scope, now) => {
    const { expired, aged, evicted, finished, retired, vacuumed } = await maintainMemory(scope, now)
    const counts = { memoryExpired: expired, memoryAged: aged, memoryEvicted: evicted, memoryPurged: finished, memoryRetired: retired }
    return { ...counts, ...(vacuumed !== undefined && { memoryVacuumed: vacuumed }) }
  },
  store: (scope) => ({ memory: storeMemory(scope) }),
  run: { recall: recallInRun, remember: rememberInRun },
  session: ({ scope, id }) => ({
    core: refuseDeleted(scope, id, coreMemory(scope, sessionOwner(id), id), { reads: [], writes: ['replace'] }),
  }),
}

/** Items about a session are purged with it. A session is named by its id or by its key, so only the id is known here. */
async function clearSession(scope: Scope, session: SessionId, reason: string): Promise<void> {
  await clearCore(scope, session)
  if (isId(session)) await purge(scope, { about: sessionOwner(session) }, { reason })
}
