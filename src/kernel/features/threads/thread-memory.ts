// The threads that this node writes to, as it last saw them, so that a message is added without reading its thread. A stale entry is refused
// by the guard and forgotten.

import { refuse } from '../../../model/errors.ts'
import type { SessionId, TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { ThreadId, ThreadRow } from '../../../model/thread.ts'
import type { Guard } from '../../../ports/commit.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type DoneRow, readRow } from '../../writing/execute.ts'
import { checkedThread } from './stored-rows.ts'

export class ThreadMemory {
  readonly #seen = new Map<string, DoneRow<ThreadRow>>()
  readonly #since = new Map<string, number>()

  get(tenant: TenantId, id: ThreadId): DoneRow<ThreadRow> | undefined {
    return this.#seen.get(`${tenant} ${id}`)
  }

  set(tenant: TenantId, id: ThreadId, row: DoneRow<ThreadRow>): void {
    const key = `${tenant} ${id}`
    this.#seen.delete(key)
    if (!row.body) return
    this.#seen.set(key, row)
    if (this.#seen.size > limits.threadsRemembered) this.#seen.delete(this.#seen.keys().next().value as string)
  }

  /** Number of messages that this node added to the thread since it wrote a tally; undefined if it wrote none. */
  sinceTally(tenant: TenantId, id: ThreadId): number | undefined {
    return this.#since.get(`${tenant} ${id}`)
  }

  setSinceTally(tenant: TenantId, id: ThreadId, messages: number): void {
    const key = `${tenant} ${id}`
    this.#since.delete(key)
    this.#since.set(key, messages)
    if (this.#since.size > limits.threadsRemembered) this.#since.delete(this.#since.keys().next().value as string)
  }

  forget(tenant: TenantId, id: ThreadId): void {
    this.#seen.delete(`${tenant} ${id}`)
  }
}

export const threadsSeen = enginePart(() => new ThreadMemory())

/** The default thread of a session. Every node derives the same id. */
export const mainThreadId = (scope: Scope, session: SessionId): ThreadId => derivedId<'thread'>(scope, `thread/${scope.tenant}/${session}`)

/** Reads the thread unless this node remembers it as open. */
export async function seeThread(scope: Scope, session: SessionId, id: ThreadId): Promise<DoneRow<ThreadRow>> {
  const memory = threadsSeen(scope.engine)
  const known = memory.get(scope.tenant, id)
  const seen = known?.body?.state === 'open' ? known : checkedThread(await readRow(scope, 'threads', id))
  memory.set(scope.tenant, id, seen)
  if (seen.body && seen.body.session !== session) throw refuse('THREAD_UNKNOWN', { thread: id, session })
  return seen
}

/** The thread is open, and has not changed since this node saw it. */
export const threadGuard = (id: ThreadId, { revision }: DoneRow<ThreadRow>): Guard => ({ kind: 'row', table: 'threads', id, revision })
