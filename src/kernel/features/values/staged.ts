// Stores JSON as values in the commit of something else, so that both are saved or neither.

import type { Json } from '../../../model/data.ts'
import { limits } from '../../../model/limits.ts'
import { type ValueNode, valueRef } from '../../../model/value.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { Round, Share } from '../../writing/transact.ts'
import { refKey } from './format.ts'
import { memoryOf } from './memory.ts'
import { type StagedValue, stage } from './stage.ts'
import { putValue, sized } from './values.ts'

/** The share of several values in a commit. */
export interface ValuesShare extends Share<void> {
  /** The refs of the values, in their order. */
  readonly refs: readonly string[]
  readonly nodes: readonly ValueNode[]
  readonly guards: readonly Guard[]
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Stages values for a commit. Nodes that this process remembers are not sent, unless a commit was refused before. `kept` are refs that a row
 * still refers to: their nodes are not sent again either. Values that are too large for one commit are written before it.
 */
export async function stageValues(
  scope: Scope,
  values: readonly Json[],
  { again, time }: Round,
  kept: ReadonlySet<string> = NONE,
): Promise<ValuesShare> {
  const { engine, tenant } = scope
  const memory = memoryOf(engine)
  if (again) memory.clear()
  time.waited()
  const staged: StagedValue[] = []
  for (const value of values) {
    const one = await sized(() => stage(scope, value, !again))
    staged.push(!again && kept.has(valueRef(one.ref)) ? { ref: one.ref, nodes: [], guards: [{ kind: 'value', ref: one.ref }] } : one)
  }
  time.hashed()
  const refs = staged.map(({ ref }) => valueRef(ref))
  const nodes = [...new Map(staged.flatMap((one) => one.nodes.map((node) => [refKey(node.ref), node] as const))).values()]
  if (nodes.reduce((sum, { body }) => sum + body.length, 0) > limits.batchBytes) {
    for (const value of values) await putValue(scope, value)
    return { refs, nodes: [], guards: staged.map(({ ref }) => ({ kind: 'value', ref })), puts: true }
  }
  const committed = (): void => {
    for (const { ref } of nodes) memory.learn(tenant, ref)
    for (const { settle } of staged) settle?.()
  }
  return { refs, nodes, guards: staged.flatMap(({ guards }) => guards), puts: true, committed }
}
