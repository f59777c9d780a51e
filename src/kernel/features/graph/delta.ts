// The change of a graph that a commit makes: the nodes it adds, rewrites and hides, and what follows for the head.

import { utf8Length } from '../../../model/bytes.ts'
import { canonical, isInOrder } from '../../../model/canonical.ts'
import type { Cause } from '../../../model/cause.ts'
import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import type { HeadRow } from '../../../model/graph.ts'
import type { SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { StateContent } from '../../../model/state.ts'
import type { Guard } from '../../../ports/commit.ts'
import { guardsOn } from '../../content/references.ts'
import { everyRow } from '../../reading/every-row.ts'
import { summaryOf } from '../../reading/message-text.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part } from '../../writing/execute.ts'
import { checkLeaf, checkNodes } from './check-nodes.ts'
import type { HeadMove } from './head-decider.ts'
import { node } from './node-decider.ts'
import { type FoundNode, findNode, foundNode, nodeId } from './nodes.ts'
import { removePart } from './remove-nodes.ts'

/** A node as it is stored: its payload was checked and masked. */
export interface NewNode {
  readonly id: string
  readonly parent: string | null
  readonly payload: Json
  readonly plugin?: string | undefined
  readonly cause?: Cause | undefined
  readonly frame?: string | undefined
}

/** A node as it is given. Without a parent it follows the node before it, and the first one follows the leaf. */
export type GivenNode = Omit<NewNode, 'parent'> & { readonly parent?: string | null | undefined }

export interface Delta {
  readonly kind: 'unchanged' | 'append' | 'replace'
  readonly nodes: readonly GivenNode[]
  readonly leaf?: string | undefined
}

export interface PlannedDelta {
  /** Payloads that are too large for an event. They are stored as values in the same commit. */
  readonly large: readonly Json[]
  /** Must hold for the commit: what the payloads refer to exists. */
  readonly guards: readonly Guard[]
  /** The parts of the commit, given the refs of the large payloads. */
  readonly parts: (refs: readonly string[]) => readonly Part[]
  readonly move: Omit<HeadMove, 'turns'>
  /** The text of the first message of the user, if this change adds it. */
  readonly firstText: string | undefined
}

/** Reads what the nodes touch, and checks them. The head row guards the rest: every change of the graph moves it. */
export async function planDelta(scope: Scope, session: SessionId, head: HeadState, delta: Delta, turn: string): Promise<PlannedDelta> {
  const { kind } = delta
  const nodes = linked(delta.nodes, kind === 'replace' ? undefined : head.leaf)
  const stored = kind === 'replace' ? await wholeGraph(scope, session) : await touched(scope, session, nodes, delta.leaf)
  const isLive = (found: FoundNode) => found.row.state === 'live'
  const live = new Set(kind === 'replace' ? [] : [...stored.values()].filter(isLive).map(({ row }) => row.node))
  const known = { live, taken: new Set(kind === 'replace' ? [] : stored.keys()) }
  checkNodes(nodes, known, session)
  checkFrames(session, head, nodes)
  const leaf = delta.leaf ?? nodes.at(-1)?.id ?? (kind === 'replace' ? undefined : head.leaf)
  if (delta.leaf !== undefined) checkLeaf(delta.leaf, nodes, known, session)
  const hidden = kind === 'replace' ? [...stored.values()].filter((one) => isLive(one) && !nodes.some(({ id }) => id === one.row.node)) : []
  const large = nodes.flatMap(({ payload }) => (fitsEvent(payload) ? [] : [payload]))
  const before = kind === 'replace' ? { nodes: 0, messages: 0 } : head
  const said = nodes.flatMap(({ payload }) => summaryOf(payload) ?? [])
  const first = said.find(({ role, text }) => role === 'user' && text !== '')?.text
  const preview = said.findLast(({ text }) => text !== '')?.text
  const intent = said.findLast(({ role, text }) => role === 'user' && text !== '')?.text
  return {
    large,
    guards: nodes.flatMap(({ payload }) => guardsOn(payload)),
    parts: (refs) => {
      let next = 0
      const added = nodes.flatMap((one) => {
        const content = fitsEvent(one.payload) ? inline(one.payload) : { ref: refs[next++] as string }
        return addPart(scope, session, one, content, one.frame ?? head.frame, turn, stored.get(one.id))
      })
      return [...added, ...hidden.map((one) => removePart(scope, session, one))]
    },
    move: {
      revision: head.revision + 1,
      nodes: before.nodes + nodes.length,
      messages: before.messages + said.length,
      leaf: leaf ?? null,
      ...(head.first === undefined && first !== undefined && { first }),
      ...(preview !== undefined && { preview }),
      ...(intent !== undefined && { intent }),
    },
    firstText: head.first === undefined ? first : undefined,
  }
}

const linked = (nodes: readonly GivenNode[], leaf: string | undefined): readonly NewNode[] =>
  nodes.map((one, i) => ({ ...one, parent: one.parent === undefined ? ((i === 0 ? leaf : nodes[i - 1]?.id) ?? null) : one.parent }))

export type HeadState = Omit<HeadRow, 'id' | 'changedAt'>

/** A node that a replacement repeats unchanged is not written again. */
function addPart(
  scope: Scope,
  session: SessionId,
  { id, parent, plugin, cause }: NewNode,
  content: StateContent,
  frame: string | undefined,
  turn: string,
  stored: FoundNode | undefined,
): readonly Part[] {
  const set = {
    node: id,
    ...(parent !== null && { parent }),
    ...(plugin !== undefined && { plugin }),
    ...(cause && { cause }),
    ...(frame !== undefined && { frame }),
    content,
  }
  if (stored?.row.state === 'live') {
    const { node: name, parent: above, plugin: type, cause: why, frame: within, content: had } = stored.row
    if (canonical({ node: name, parent: above, plugin: type, cause: why, frame: within, content: had }) === canonical(set)) return []
  }
  const seen = stored ? { body: stored.row, revision: stored.revision } : NOT_THERE
  // The payload and the names are masked already.
  return [part(node, nodeId(scope, session, id), { verb: 'add', set: { ...set, turn } }, { session, seen, whole: true })]
}

/** A node that opened the frame it names would hide a misspelt name. */
function checkFrames(session: SessionId, head: HeadState, nodes: readonly NewNode[]): void {
  const known = new Set(head.frames.map(({ id }) => id))
  for (const { frame } of nodes) if (frame !== undefined && !known.has(frame)) throw refuse('FRAME_UNKNOWN', { session, frame })
}

/** The stored nodes that the delta names: as new ids, as parents or as the leaf. */
async function touched(
  scope: Scope,
  session: SessionId,
  nodes: readonly NewNode[],
  leaf: string | undefined,
): Promise<ReadonlyMap<string, FoundNode>> {
  const names = new Set([
    ...nodes.flatMap(({ id, parent }) => (parent === null ? [id] : [id, parent])),
    ...(leaf === undefined ? [] : [leaf]),
  ])
  const found = await Promise.all([...names].map((name) => findNode(scope, session, name, 'any')))
  return new Map(found.flatMap((one) => (one ? [[one.row.node, one] as const] : [])))
}

async function wholeGraph(scope: Scope, session: SessionId): Promise<ReadonlyMap<string, FoundNode>> {
  const found = new Map<string, FoundNode>()
  for (const state of ['live', 'removed'])
    for await (const stored of everyRow(scope, 'graph_nodes', { index: 'bySession', equals: [session, state], limit: limits.listRows })) {
      const one = foundNode(stored)
      found.set(one.row.node, one)
      if (found.size > limits.commitEvents)
        throw refuse('COMMIT_TOO_LARGE', { limit: limits.commitEvents, unit: 'nodes', found: found.size })
    }
  return found
}

/** Small payloads stand in the event. An event nests its data, so deep payloads do not fit. */
const fitsEvent = (payload: Json): boolean =>
  utf8Length(JSON.stringify(payload)) <= limits.stateInlineBytes && depthOf(payload) < limits.dataDepth - 8

/** A row sorts keys, so a payload with another order stands there as text. */
const inline = (payload: Json): StateContent => (isInOrder(payload) ? { value: payload } : { text: JSON.stringify(payload) })

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let most = 0
  for (const item of Object.values(value)) most = Math.max(most, depthOf(item as Json))
  return most + 1
}
