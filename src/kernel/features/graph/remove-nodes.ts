// Hides nodes, moves the leaf, and deletes hidden nodes for good.

import { refuse } from '../../../model/errors.ts'
import type { GraphNodeRow } from '../../../model/graph.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import { headId } from '../../naming/names.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyPage, everyRow } from '../../reading/every-row.ts'
import { summaryOf } from '../../reading/message-text.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type Part, part, plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { checkExpected, checkRevision, readHead } from './head.ts'
import { type HeadMove, head } from './head-decider.ts'
import { node } from './node-decider.ts'
import { type FoundNode, findNode, foundNode, nodeId, nodeName, toNode } from './nodes.ts'
import { upwards } from './path.ts'

export interface RemovedNodes {
  /** The revision of the head afterwards. */
  readonly revision: number
  /** The ids of the nodes that are hidden now. */
  readonly removed: readonly string[]
}

export interface VacuumReport {
  /** Number of nodes deleted. */
  readonly removed: number
}

export interface VacuumOptions {
  /** Stops between two pages of nodes. Those that were deleted are gone. */
  readonly signal?: AbortSignal
}

type Expecting = { readonly expectedHead?: number }

const AT_ONCE = 500

function takeExpected(options: Expecting | undefined, call: string): number | undefined {
  const { expectedHead, ...unknown } = optionsOf(options, call)
  checkKnown(unknown, call)
  if (expectedHead !== undefined) checkRevision(expectedHead)
  return expectedHead
}

export async function moveLeaf(
  scope: Scope,
  session: SessionId,
  given: string,
  options?: Expecting,
): Promise<{ readonly revision: number }> {
  checkOpen(scope.engine)
  const expected = takeExpected(options, 'graph.moveTo')
  const leaf = nodeName(scope, given)
  return retryConflicts(scope, ['session_heads'], async () => {
    const { head: row, ...seen } = await readHead(scope, session)
    checkExpected(session, expected, row.revision)
    if (!(await findNode(scope, session, leaf))) throw refuse('LEAF_UNKNOWN', { session, leaf })
    if (row.leaf === leaf) return { revision: row.revision }
    const { turns, nodes, messages } = row
    const to: HeadMove = { revision: row.revision + 1, turns, nodes, messages, leaf }
    await plan(scope, [part(head, headId(scope, session), { verb: 'move', to }, { session, seen })], { open: session, once: true })
    return { revision: to.revision }
  })
}

/** Hides a node and its descendants, deepest first, so that no node is ever left without its parent. */
export async function removeNodes(scope: Scope, session: SessionId, given: string, options?: Expecting): Promise<RemovedNodes> {
  checkOpen(scope.engine)
  let expected = takeExpected(options, 'graph.remove')
  const name = nodeName(scope, given)
  const removed: string[] = []
  for (;;) {
    const step = await retryConflicts(scope, ['session_heads', 'graph_nodes'], async () => {
      const { head: row, ...seen } = await readHead(scope, session)
      checkExpected(session, expected, row.revision)
      const top = await findNode(scope, session, name)
      if (!top) throw refuse('NODE_UNKNOWN', { session, node: name })
      if (await holdsLeaf(scope, session, row.leaf, name)) throw refuse('NODE_IN_USE', { session, node: name, leaf: row.leaf })
      const below = await subtree(scope, session, top)
      const now = below.slice(-AT_ONCE)
      let messages = row.messages
      for (const { row: one } of now) if (summaryOf((await toNode(scope, one)).payload)) messages--
      const to: HeadMove = { revision: row.revision + 1, turns: row.turns, nodes: row.nodes - now.length, messages }
      const moving = part(head, headId(scope, session), { verb: 'move', to }, { session, seen })
      await plan(scope, [moving, ...now.map((one) => removePart(scope, session, one))], { open: session, once: true })
      return { revision: to.revision, ids: now.map((one) => one.row.node), done: now.length === below.length }
    })
    removed.unshift(...step.ids)
    // The head has moved by this call itself.
    if (expected !== undefined) expected = step.revision
    if (step.done) return { revision: step.revision, removed }
  }
}

export const removePart = (scope: Scope, session: SessionId, { row, revision }: FoundNode): Part<GraphNodeRow> =>
  part(node, nodeId(scope, session, row.node), { verb: 'remove' }, { session, seen: { body: row, revision } })

async function holdsLeaf(scope: Scope, session: SessionId, leaf: string | undefined, name: string): Promise<boolean> {
  const end = leaf === undefined ? undefined : await findNode(scope, session, leaf)
  if (!end) return false
  for await (const row of upwards(scope, session, end)) if (row.node === name) return true
  return false
}

/** A node and its descendants, each after its parent. */
async function subtree(scope: Scope, session: SessionId, top: FoundNode): Promise<readonly FoundNode[]> {
  const found = [top]
  for (let at = 0; at < found.length; at++) {
    const parent = (found[at] as FoundNode).row.node
    const range = { index: 'byParent', equals: [session, 'live', parent], limit: limits.listRows }
    for await (const stored of everyRow(scope, 'graph_nodes', range)) found.push(foundNode(stored))
  }
  return found
}

export async function vacuumGraph(scope: Scope, session: SessionId, options?: VacuumOptions): Promise<VacuumReport> {
  checkOpen(scope.engine)
  const { signal, ...unknown } = optionsOf(options, 'graph.vacuum')
  checkKnown(unknown, 'a vacuum')
  stopIfAsked(scope, signal)
  return { removed: await forgetNodes(scope, session, 'removed', signal) }
}

/** Deletes the rows of nodes. Their values are garbage afterwards, unless something else refers to them. */
export async function forgetNodes(scope: Scope, session: SessionId, state: 'live' | 'removed', signal?: AbortSignal): Promise<number> {
  let removed = 0
  const range = { index: 'bySession', equals: [session, state], limit: AT_ONCE }
  for await (const rows of everyPage(scope, 'graph_nodes', range)) {
    if (rows.length === 0) break
    stopIfAsked(scope, signal)
    const { receipts } = await plan(
      scope,
      rows.map(({ id }) => part(node, id as Id, { verb: 'forget', state }, { session })),
    )
    removed += receipts.length
  }
  return removed
}
