// Stores JSON as values in the commit of something else, so that both are saved or neither.

import type { Json } from '../../../model/data.ts'
import { limits } from '../../../model/limits.ts'
import { type ValueNode, valueRef } from '../../../model/value.ts'
import type { Guard } from '../../../ports/commit.ts'
import { WriteTime } from '../../measuring/write-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { conflictOrGone, retryConflicts } from '../../writing/retry-conflicts.ts'
import { refKey } from './format.ts'
import { memoryOf } from './memory.ts'
import { type StagedValue, stage } from './stage.ts'
import { putValue, sized } from './values.ts'

/** The nodes that the commit must carry, and the guards it must have. */
export interface CommitShare {
  readonly ref: string
  readonly nodes: readonly ValueNode[]
  readonly guards: readonly Guard[]
  /** Began before the values were encoded, so that the commit counts their hashing too. */
  readonly time: WriteTime
}

export interface CommitShares extends Omit<CommitShare, 'ref'> {
  /** The refs of the values, in their order. */
  readonly refs: readonly string[]
}

/** Calls `commit` with the share of a value. */
export const withValue = <T>(scope: Scope, value: Json, commit: (share: CommitShare) => Promise<T>): Promise<T> =>
  withValues(scope, [value], ({ refs, ...share }) => commit({ ref: refs[0] as string, ...share }))

/**
 * Calls `commit` with the share of several values. If a node that this process remembered, or a blob that was just put, is gone meanwhile, it
 * calls again with all nodes.
 * Values that are too large for one commit are written before. `kept` are refs that a row still refers to: their nodes are not sent again.
 */
export async function withValues<T>(
  scope: Scope,
  values: readonly Json[],
  commit: (share: CommitShares) => Promise<T>,
  kept: ReadonlySet<string> = new Set(),
): Promise<T> {
  const { engine, tenant } = scope
  const time = new WriteTime(engine.environment.clock)
  return retryConflicts(scope, conflictOrGone(), async (attempt) => {
    const known = attempt === 1
    if (!known) memoryOf(engine).clear()
    time.waited()
    const staged: StagedValue[] = []
    for (const value of values) {
      const one = await sized(() => stage(scope, value, known))
      staged.push(known && kept.has(valueRef(one.ref)) ? { ref: one.ref, nodes: [], guards: [{ kind: 'value', ref: one.ref }] } : one)
    }
    time.hashed()
    const refs = staged.map(({ ref }) => valueRef(ref))
    const nodes = [...new Map(staged.flatMap((one) => one.nodes.map((node) => [refKey(node.ref), node] as const))).values()]
    if (nodes.reduce((sum, { body }) => sum + body.length, 0) > limits.batchBytes) {
      for (const value of values) await putValue(scope, value)
      return commit({ refs, nodes: [], guards: staged.map(({ ref }) => ({ kind: 'value', ref })), time })
    }
    const done = await commit({ refs, nodes, guards: staged.flatMap(({ guards }) => guards), time })
    for (const { ref } of nodes) memoryOf(engine).learn(tenant, ref)
    for (const { settle } of staged) settle?.()
    return done
  })
}
