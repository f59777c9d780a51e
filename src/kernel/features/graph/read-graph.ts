// `session.graph`: reads of the whole graph, of children and of one node.

import type { SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, filterOf, invalidOption, optionsOf } from '../../../model/options.ts'
import type { ColumnValue } from '../../../model/tables.ts'
import { takeName } from '../../naming/names.ts'
import { arrayPage, checkLast } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { findNode, foundNode, type GraphNode, type NodeList, nodeName, toNode, toNodes } from './nodes.ts'
import { type PathOptions, readPath, readWindow, type WindowOptions } from './path.ts'
import { moveLeaf, type RemovedNodes, removeNodes, type VacuumOptions, type VacuumReport, vacuumGraph } from './remove-nodes.ts'

export interface ListNodesOptions {
  /** At most this many nodes, in the order of adding. The default is 100. */
  readonly first?: number
  /** At most this many nodes, newest first. */
  readonly last?: number
  readonly cursor?: string
  /** Only nodes of this frame. */
  readonly frame?: string
}

export type ChildrenOptions = Pick<ListNodesOptions, 'first' | 'cursor'>

export interface SessionGraph {
  /** Lists all nodes, also those beside the active path. */
  list(options?: ListNodesOptions): Promise<NodeList>
  /** The path from the root to a leaf, root first. The default is the active leaf. A gap is GRAPH_DAMAGED. */
  path(options?: PathOptions): Promise<NodeList>
  node(id: string): Promise<GraphNode | undefined>
  /** The children of a node in the order of adding; those of null are the roots. */
  children(id: string | null, options?: ChildrenOptions): Promise<NodeList>
  /** The nodes around one: before it on its path, and after it on the active path or the newest branch. */
  window(id: string, options?: WindowOptions): Promise<NodeList>
  /** Makes another node the leaf, to go on from there. */
  moveTo(leaf: string, options?: { readonly expectedHead?: number }): Promise<{ readonly revision: number }>
  /** Hides a node and everything below it. Refused while the leaf is among them. */
  remove(id: string, options?: { readonly expectedHead?: number }): Promise<RemovedNodes>
  /** Deletes the rows of hidden nodes for good. */
  vacuum(options?: VacuumOptions): Promise<VacuumReport>
}

const BY_DEFAULT = 100

export const sessionGraph = (scope: Scope, session: SessionId): SessionGraph => ({
  list: (options) => listNodes(scope, session, options),
  path: (options) => readPath(scope, session, options),
  node: async (given) => {
    checkOpen(scope.engine)
    const found = await findNode(scope, session, nodeName(scope, given))
    return found && toNode(scope, found.row)
  },
  children: (id, options) => children(scope, session, id, options),
  window: (id, options) => readWindow(scope, session, id, options),
  moveTo: (leaf, options) => moveLeaf(scope, session, leaf, options),
  remove: (id, options) => removeNodes(scope, session, id, options),
  vacuum: (options) => vacuumGraph(scope, session, options),
})

async function listNodes(scope: Scope, session: SessionId, options?: ListNodesOptions): Promise<NodeList> {
  checkOpen(scope.engine)
  const { first, last, cursor, frame, ...unknown } = filterOf(options, 'graph.list')
  checkKnown(unknown, 'a list of nodes')
  if (last !== undefined && first !== undefined) throw invalidOption('first', 'no number together with `last`', first)
  const range =
    frame === undefined
      ? { index: 'bySession', equals: [session, 'live'] }
      : { index: 'byFrame', equals: [session, 'live', takeName(scope, frame, 'a frame')] }
  return pageOf(scope, { ...range, backwards: last !== undefined }, last ?? first, cursor)
}

async function children(scope: Scope, session: SessionId, id: string | null, options?: ChildrenOptions): Promise<NodeList> {
  checkOpen(scope.engine)
  const { first = limits.listRows, cursor, ...unknown } = optionsOf(options, 'graph.children')
  checkKnown(unknown, 'a list of nodes')
  const parent = id === null ? null : nodeName(scope, id)
  return pageOf(scope, { index: 'byParent', equals: [session, 'live', parent], backwards: false }, first, cursor)
}

async function pageOf(
  scope: Scope,
  range: { readonly index: string; readonly equals: readonly ColumnValue[]; readonly backwards: boolean },
  limit = BY_DEFAULT,
  cursor?: string,
): Promise<NodeList> {
  checkLast(limit, 'nodes')
  const page = await scope.engine.backend.rows.list(scope.tenant, 'graph_nodes', {
    ...range,
    limit,
    ...(cursor !== undefined && { cursor }),
  })
  return arrayPage(
    await toNodes(
      scope,
      page.rows.map((stored) => foundNode(stored).row),
    ),
    page.cursor,
  )
}
