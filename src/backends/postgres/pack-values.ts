// Packs what a batch says of values: nodes, and references of events.

import { Buffer } from 'node:buffer'
import { hex } from '../../model/bytes.ts'
import type { EventDraft } from '../../model/event.ts'
import type { Commit, Guard } from '../../ports/commit.ts'
import { numbers, texts } from './arrays.ts'
import { packNode } from './node-codec.ts'
import { bytePieces } from './pieces.ts'

/** Events, counted from 1, and what they refer to. */
export function packReferences(events: readonly EventDraft[]) {
  const references = events.flatMap(({ refs = [] }, i) => refs.map((ref) => ({ event: i + 1, ref })))
  return { events: references.map(({ event }) => event), names: texts(references.map(({ ref }) => ref)) }
}

/** The id of a guard on content, as guard_content reads it. */
export const contentId = (guard: ContentGuard): string => (guard.kind === 'value' ? hex(guard.ref) : `blob:${guard.digest}`)

export type ContentGuard = Extract<Guard, { kind: 'value' | 'blob' }>

export function packNodes(batch: readonly Commit[]) {
  const nodes = batch.flatMap((commit, i) => (commit.nodes ?? []).map(({ ref, body }) => ({ ref, body: packNode(body), commit: i + 1 })))
  const bodies = bytePieces(nodes.map(({ body }) => body))
  return {
    nodeCommits: numbers(nodes.map(({ commit }) => commit)),
    nodeFrom: bodies.from,
    nodeSize: bodies.size,
    nodeRefs: nodes.length === 0 ? null : Buffer.concat(nodes.map(({ ref }) => ref)),
    nodeBodies: bodies.bytes,
  }
}
