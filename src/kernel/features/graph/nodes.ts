// Nodes of the graph as callers see them, and how they are read.

import type { Cause } from '../../../model/cause.ts'
import type { GraphNodeRow, NodeState } from '../../../model/graph.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { checkKey } from '../../../model/options.ts'
import { checkRecord } from '../../../model/record-version.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import { getBlob } from '../../content/blobs.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { maskKey } from '../../naming/names.ts'
import type { ArrayPage } from '../../reading/list-rows.ts'
import type { Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { readStored } from '../../writing/part.ts'
import { readValue } from '../values/values.ts'

export interface GraphNode {
  readonly id: string
  /** Null for a root. */
  readonly parent: string | null
  /** A conversation event, or typed data of a plugin. Undefined if it was erased. */
  readonly payload: unknown
  /** The type of the plugin data, if the payload is that. */
  readonly plugin?: string
  readonly cause?: Cause
  readonly frame?: string
  /** The turn that wrote it. */
  readonly turn?: string
  /** Unix milliseconds. */
  readonly at: number
}

export type NodeList = ArrayPage<GraphNode>

/** The id of a node as it is stored: checked, and with secrets masked. */
export function nodeName(scope: Scope, given: unknown): string {
  telling(scope, () => checkKey(given))
  return maskKey(scope, given as string)
}

export const nodeId = (scope: Scope, session: SessionId, name: string): Id<'node'> =>
  derivedId<'node'>(scope, `node/${scope.tenant}/${session}/${name}`)

/** A node as it is stored, with its position in the order of adding. */
export interface FoundNode {
  readonly row: GraphNodeRow
  readonly born: number
  readonly revision: number
}

export const foundNode = ({ id, body, born, revision }: TableRow<'graph_nodes'>): FoundNode => {
  const row = decodeBody(body, { table: 'graph_nodes', id })
  return { row: checkRecord(row, { record: 'node', id: row.node }), born, revision }
}

/** Undefined for a node that is unknown, or not in this state. */
export async function findNode(
  scope: Scope,
  session: SessionId,
  name: string,
  state: NodeState | 'any' = 'live',
): Promise<FoundNode | undefined> {
  const stored = await readStored(scope, 'graph_nodes', nodeId(scope, session, name))
  const found = stored && foundNode(stored)
  return found && (state === 'any' || found.row.state === state) ? found : undefined
}

export async function toNode(scope: Scope, row: GraphNodeRow): Promise<GraphNode> {
  const { node, parent = null, content, plugin, cause, frame, turn, at } = row
  return {
    id: node,
    parent,
    payload: content && (await readPayload(scope, content)),
    ...(plugin !== undefined && { plugin }),
    ...(cause && { cause }),
    ...(frame !== undefined && { frame }),
    ...(turn !== undefined && { turn }),
    at,
  }
}

export const toNodes = (scope: Scope, rows: readonly GraphNodeRow[]): Promise<GraphNode[]> =>
  Promise.all(rows.map((row) => toNode(scope, row)))

function readPayload(scope: Scope, content: NonNullable<GraphNodeRow['content']>): unknown {
  if ('value' in content) return content.value
  if ('text' in content) return JSON.parse(content.text)
  return 'ref' in content ? readValue(scope, content.ref) : getBlob(scope, content.blob)
}
