// A fork begins with the head and the graph that its source had at the fork point. Payloads are shared by reference.

import type { GraphNodeRow, HeadRow } from '../../../model/graph.ts'
import type { SessionId } from '../../../model/ids.ts'
import { checkRecord } from '../../../model/record-version.ts'
import { parseValueRef } from '../../../model/value.ts'
import type { Guard } from '../../../ports/commit.ts'
import { textGuards } from '../../content/blobs.ts'
import { blobDigestOf, referenceGuards } from '../../content/references.ts'
import type { Fork } from '../../feature.ts'
import { headId } from '../../naming/names.ts'
import { forkedRows } from '../../reading/rows-at.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part, plan } from '../../writing/execute.ts'
import { manifestRefs } from '../checkpoints/components.ts'
import { head } from './head-decider.ts'
import { node } from './node-decider.ts'
import { nodeId } from './nodes.ts'

/** The commit of a fork has room for so many nodes, beside the parts of other features. */
const AT_ONCE = 500
const PAGE = 500

/**
 * Copies the nodes without their payloads, unless these are small. Most nodes of a large graph are written before the commit of the fork: they
 * belong to a session that nobody can open until then.
 */
export async function forkGraph(scope: Scope, fork: Fork): Promise<readonly Part[]> {
  const rows = (await forkedRows(scope, node, fork))
    .map(({ row }) => checkRecord(row, { record: 'node', id: row.node }))
    .filter(({ state }) => state === 'live')
  const heads = await forkedRows(scope, head, fork)
  const row = heads[0] && checkRecord(heads[0].row, { record: 'head', id: fork.from })
  const gone = await collected(scope, [...rows.flatMap(refOf), ...manifestRefs(row?.checkpoint)])
  const nodes = await Promise.all(rows.map((one) => nodePart(scope, fork.to, refOf(one).some((ref) => gone.has(ref)) ? without(one) : one)))
  while (nodes.length > AT_ONCE) await plan(scope, nodes.splice(0, PAGE))
  return row ? [headPart(scope, fork.to, row, gone), ...nodes] : nodes
}

const refOf = ({ content }: GraphNodeRow): readonly string[] => (content && 'ref' in content ? [content.ref] : [])

/** A node whose payload is gone stays in its place, as after an erasure. */
const without = ({ content: _, ...row }: GraphNodeRow): GraphNodeRow => row

async function nodePart(scope: Scope, to: SessionId, row: GraphNodeRow): Promise<Part<GraphNodeRow>> {
  const { id: _, session: __, schema: ___, state: ____, ...set } = row
  const { content } = row
  const guards = content && 'text' in content ? await textGuards(scope, content.text) : referenceGuards(refOf(row))
  const about = { session: to, whole: true, seen: NOT_THERE, guards, copied: true }
  return part(node, nodeId(scope, to, row.node), { verb: 'add', set }, about)
}

/** A checkpoint of which a component was collected since is left out: it could not be read. */
function headPart(scope: Scope, to: SessionId, row: HeadRow, gone: ReadonlySet<string>): Part<HeadRow> {
  const { id: _, session: __, checkpoint, ...rest } = row
  const refs = manifestRefs(checkpoint)
  const whole = refs.length > 0 && !refs.some((ref) => gone.has(ref))
  const guards: readonly Guard[] = whole ? referenceGuards(refs) : []
  const from = { ...rest, ...(whole && checkpoint && { checkpoint }) }
  return part(head, headId(scope, to), { verb: 'copy', from }, { session: to, whole: true, seen: NOT_THERE, guards, copied: true })
}

/** The refs whose content a garbage collection has deleted since the fork point. */
async function collected(scope: Scope, refs: readonly string[]): Promise<ReadonlySet<string>> {
  const { values, blobs } = scope.engine.backend
  const gone = new Set<string>()
  const ofValues = refs.filter((ref) => blobDigestOf(ref) === undefined)
  for (let at = 0; at < ofValues.length; at += PAGE) {
    const page = ofValues.slice(at, at + PAGE)
    const found = await values.get(scope.tenant, page.map(parseValueRef))
    for (const [i, ref] of page.entries()) if (!found[i]) gone.add(ref)
  }
  for (const ref of refs) {
    const digest = blobDigestOf(ref)
    if (digest !== undefined && !(await blobs.get(scope.tenant, digest, 0))) gone.add(ref)
  }
  return gone
}
