// Packs what a batch says of values: nodes, and references of events.

import { Buffer } from 'node:buffer'
import type { EventDraft } from '../../model/event.ts'
import type { Commit } from '../../ports/commit.ts'
import { numbers, texts } from './arrays.ts'
import type { Value } from './connections.ts'
import { packNode } from './node-codec.ts'

/** Events, counted from 1, and what they refer to. */
export function packReferences(events: readonly EventDraft[]): readonly Value[] {
  const references = events.flatMap(({ refs = [] }, i) => refs.map((ref) => ({ event: i + 1, ref })))
  return [numbers(references.map(({ event }) => event)), texts(references.map(({ ref }) => ref))]
}

/** Commits, offsets and sizes of the nodes of values; then all refs, then all bodies. */
export function packNodes(batch: readonly Commit[]): readonly Value[] {
  const nodes = batch.flatMap((commit, i) => (commit.nodes ?? []).map(({ ref, body }) => ({ ref, body: packNode(body), commit: i + 1 })))
  if (nodes.length === 0) return [null, null, null, null, null]
  let end = 1
  const starts = nodes.map(({ body }) => {
    end += body.length
    return end - body.length
  })
  return [
    numbers(nodes.map(({ commit }) => commit)),
    numbers(starts),
    numbers(nodes.map(({ body }) => body.length)),
    Buffer.concat(nodes.map(({ ref }) => ref)),
    Buffer.concat(nodes.map(({ body }) => body)),
  ]
}
