// Stores JSON as a value in the commit of something else, so that both are saved or neither.

import type { Json } from '../../model/data.ts'
import { InkError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { type ValueNode, valueRef } from '../../model/value.ts'
import type { Guard } from '../../ports/commit.ts'
import type { Scope } from '../scope.ts'
import { memoryOf } from './memory.ts'
import { stage } from './stage.ts'
import { putValue } from './values.ts'

/** The nodes that the commit must carry, and the guards it must have. */
export interface CommitShare {
  readonly ref: string
  readonly nodes: readonly ValueNode[]
  readonly guards: readonly Guard[]
}

/**
 * Calls `commit` with the share of a value. If a node that this process remembered is gone meanwhile, it calls again with all nodes. A value
 * that is too large for one commit is written before.
 */
export async function withValue<T>(scope: Scope, value: Json, commit: (share: CommitShare) => Promise<T>): Promise<T> {
  const { engine, tenant } = scope
  const attempt = async (known: boolean): Promise<T> => {
    const staged = await stage(scope, value, known)
    if (staged.nodes.reduce((sum, { body }) => sum + body.length, 0) > limits.batchBytes) {
      const ref = await putValue(scope, value)
      return commit({ ref, nodes: [], guards: [{ kind: 'value', ref: staged.ref }] })
    }
    const done = await commit({ ref: valueRef(staged.ref), nodes: staged.nodes, guards: staged.guards })
    for (const { ref } of staged.nodes) memoryOf(engine).learn(tenant, ref)
    staged.settle?.()
    return done
  }
  try {
    return await attempt(true)
  } catch (error) {
    if (!(error instanceof InkError) || error.code !== 'VALUE_MISSING') throw error
    memoryOf(engine).clear()
    return attempt(false)
  }
}
