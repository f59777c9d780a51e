// Paths through the graph: from a leaf to its root, and a window around a node.

import { refuse } from '../../../model/errors.ts'
import type { GraphNodeRow } from '../../../model/graph.ts'
import type { SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, filterOf, invalidOption, optionsOf } from '../../../model/options.ts'
import { takeName } from '../../naming/names.ts'
import { arrayPage } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { readHead } from './head.ts'
import { type FoundNode, findNode, foundNode, type NodeList, nodeName, toNodes } from './nodes.ts'

export interface PathOptions {
  /** The node at the end of the path. The default is the leaf of the session. */
  readonly leaf?: string
  /** Only nodes of this frame. */
  readonly frame?: string
  /** The largest number of nodes, counted from the leaf. The cursor then leads to the ones before. */
  readonly last?: number
  readonly cursor?: string
}

export interface WindowOptions {
  /** Nodes before it. The default is 10. */
  readonly before?: number
  /** Nodes after it. The default is 10. */
  readonly after?: number
}

const PAGE = 200
const WINDOW = 10

export async function readPath(scope: Scope, session: SessionId, options?: PathOptions): Promise<NodeList> {
  checkOpen(scope.engine)
  const { leaf, frame, last = limits.pathNodes, cursor, ...unknown } = filterOf(options, 'graph.path', ['leaf'])
  checkKnown(unknown, 'a path')
  if (!Number.isInteger(last) || last < 1 || last > limits.pathNodes)
    throw invalidOption('last', `an integer from 1 to ${limits.pathNodes}`, last)
  const only = frame === undefined ? undefined : takeName(scope, frame, 'a frame')
  const from = cursor ?? leaf
  const end = from === undefined ? (await readHead(scope, session)).head.leaf : nodeName(scope, from)
  if (end === undefined) return arrayPage([])
  const found = await findNode(scope, session, end)
  if (!found) throw from === undefined ? damaged(session, end, undefined) : refuse('NODE_UNKNOWN', { session, node: end })
  const rows: GraphNodeRow[] = []
  for await (const row of upwards(scope, session, found)) {
    if (only !== undefined && row.frame !== only) continue
    if (rows.length === last) return arrayPage(await toNodes(scope, rows.reverse()), row.node)
    rows.push(row)
  }
  return arrayPage(await toNodes(scope, rows.reverse()))
}

/** The ancestors of a node, itself first. Throws GRAPH_DAMAGED where a parent is missing, or where the path is a circle. */
export async function* upwards(scope: Scope, session: SessionId, from: FoundNode): AsyncGenerator<GraphNodeRow, void, undefined> {
  const ahead = new Reader(scope, session)
  const seen = new Set<string>()
  for (let at: FoundNode | undefined = from; at; ) {
    const { node, parent }: GraphNodeRow = at.row
    if (seen.has(node)) throw damaged(session, node, node)
    seen.add(node)
    yield at.row
    if (parent === undefined) return
    const next: FoundNode | undefined = await ahead.get(parent, at.born)
    if (!next) throw damaged(session, node, parent)
    at = next
  }
}

const damaged = (session: SessionId, node: string, missing: string | undefined) =>
  refuse('GRAPH_DAMAGED', { session, node, missing: missing ?? node })

/** Reads nodes page by page, newest first, because the parent of a node was nearly always added shortly before it. */
class Reader {
  readonly #scope: Scope
  readonly #session: SessionId
  readonly #known = new Map<string, FoundNode>()
  #gets = 0

  constructor(scope: Scope, session: SessionId) {
    this.#scope = scope
    this.#session = session
  }

  async get(name: string, below: number): Promise<FoundNode | undefined> {
    const known = this.#known.get(name)
    if (known) return known
    // A few single reads are cheaper than a page.
    if (++this.#gets > 4) {
      await this.#load(below)
      this.#gets = 0
    }
    return this.#known.get(name) ?? findNode(this.#scope, this.#session, name)
  }

  async #load(below: number): Promise<void> {
    const { backend } = this.#scope.engine
    const range = { index: 'bySession', equals: [this.#session, 'live'], below, backwards: true, limit: PAGE }
    const { rows } = await backend.rows.list(this.#scope.tenant, 'graph_nodes', range)
    this.#known.clear()
    for (const stored of rows) {
      const found = foundNode(stored)
      this.#known.set(found.row.node, found)
    }
    this.#gets = rows.length === 0 ? -Infinity : 0
  }
}

export async function readWindow(scope: Scope, session: SessionId, given: string, options?: WindowOptions): Promise<NodeList> {
  checkOpen(scope.engine)
  const { before = WINDOW, after = WINDOW, ...unknown } = optionsOf(options, 'graph.window')
  checkKnown(unknown, 'a window')
  for (const [name, count] of Object.entries({ before, after }))
    if (!Number.isInteger(count) || count < 0 || count > limits.listRows)
      throw invalidOption(name, `an integer from 0 to ${limits.listRows}`, count)
  const name = nodeName(scope, given)
  const found = await findNode(scope, session, name)
  if (!found) throw refuse('NODE_UNKNOWN', { session, node: name })
  const up: GraphNodeRow[] = []
  for await (const row of upwards(scope, session, found)) {
    up.push(row)
    if (up.length > before) break
  }
  const down = after === 0 ? [] : await downwards(scope, session, name, after)
  return arrayPage(await toNodes(scope, [...up.reverse(), ...down]))
}

/** The nodes below one: those of the active path if it is on that path, otherwise the newest child each time. */
async function downwards(scope: Scope, session: SessionId, name: string, most: number): Promise<readonly GraphNodeRow[]> {
  const { leaf } = (await readHead(scope, session)).head
  const end = leaf === undefined || leaf === name ? undefined : await findNode(scope, session, leaf)
  if (end) {
    const below: GraphNodeRow[] = []
    for await (const row of upwards(scope, session, end)) {
      if (row.node === name) return below.reverse().slice(0, most)
      below.push(row)
    }
  }
  const rows: GraphNodeRow[] = []
  for (let at = name; rows.length < most; ) {
    const range = { index: 'byParent', equals: [session, 'live', at], backwards: true, limit: 1 }
    const [stored] = (await scope.engine.backend.rows.list(scope.tenant, 'graph_nodes', range)).rows
    if (!stored) return rows
    const { row } = foundNode(stored)
    rows.push(row)
    at = row.node
  }
  return rows
}
