// The fence of a handle. An append may be guarded by the fence of a claim, a run or a session lease, so that a holder that lost it cannot write.

import { InkError, refuse } from '../../model/errors.ts'
import type { RunId, SessionId, TenantId } from '../../model/ids.ts'
import { invalidOption } from '../../model/options.ts'
import type { Guard } from '../../ports/commit.ts'
import type { Scope } from '../wiring/scope.ts'
import type { Part } from './execute.ts'

export interface Fence {
  readonly tenant: TenantId
  readonly guard: Guard & { readonly kind: 'fence' }
  /** Set for the fence of a run: what is written under it names the run. */
  readonly run?: { readonly id: RunId; readonly session: SessionId }
  /** Tells the handle that a newer holder exists. */
  lost(error: InkError): unknown
  /** Set for a session lease: releases it in a commit of something else. */
  readonly release?: { readonly part: Part; readonly done: () => void }
}

/** The method of a handle that returns its fence. It throws if the handle is settled or released. */
export const FENCE = Symbol('fence')

export interface HasFence {
  [FENCE](): Fence
}

/** Returns the fence of a handle for a write to this session. */
export function fenceOf({ engine, tenant, actor }: Scope, session: SessionId, under: unknown): Fence {
  const handle = (typeof under === 'object' && under !== null ? under : {}) as Partial<HasFence>
  const fence = openFence(handle, (error) => engine.audit.note(tenant, actor, error))
  if (!fence) throw invalidOption('under', 'a claim, a run or a session lease', under)
  const wrong = (why: string) => refuse('OPTION_INVALID', { option: 'under', why })
  if (fence.tenant !== tenant) throw wrong(`it belongs to tenant ${fence.tenant}, and the session to ${tenant}`)
  if (fence.run && fence.run.session !== session) throw wrong(`run ${fence.run.id} belongs to another session`)
  return fence
}

/** A handle that knows that it has lost its fence refuses without asking the store, so the refusal is noted here. */
function openFence(handle: Partial<HasFence>, note: (error: InkError) => void): Fence | undefined {
  try {
    return handle[FENCE]?.()
  } catch (error) {
    if (error instanceof InkError && error.code === 'FENCE_LOST') note(error)
    throw error
  }
}

/** Writes under a fence, and tells its handle if the fence is lost. */
export async function writeUnder<T>(fence: Fence, write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (error) {
    if (error instanceof InkError && error.code === 'FENCE_LOST') fence.lost(error)
    throw error
  }
}
