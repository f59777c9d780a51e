// Content that a batch brings or names: nodes of values, references of events, and guards on nodes and blobs. Two functions do the work, the
// same as in commit_v1. They run behind the lock of the head and look with snapshots of their own: garbage collection and commits of nodes
// alone do not move the head, so the statement's snapshot may be too old.

import type { Commit } from '../../../ports/commit.ts'
import { numbers, texts } from '../arrays.ts'
import { packNodes, packReferences } from '../pack-values.ts'
import type { Addition } from './addition.ts'

/** `named` are the ids of guards on content; seqs follow `base`. */
export function content(batch: readonly Commit[], named: readonly string[], base: number): Addition {
  const { nodeRefs, nodeFrom, nodeSize, nodeBodies } = packNodes(batch)
  const { events, names } = packReferences(batch.flatMap((commit) => commit.events))
  return {
    shape: 'content',
    count: 1,
    values: [texts(named), nodeRefs, nodeFrom, nodeSize, nodeBodies, numbers(events.map((event) => base + event)), names],
    text: (place) => {
      const ids = `${place()}::text[]`
      const nodes = ['bytea', 'integer[]', 'integer[]', 'bytea'].map((type) => `${place()}::${type}`).join(', ')
      const references = ['bigint[]', 'text[]'].map((type) => `${place()}::${type}`).join(', ')
      return {
        parts: [],
        counts: [
          `(
    select count(*) from moved m
    where case when inkfast.guard_content(row(m.tenant, null, ${ids}, null, null)::inkfast.guard_list) is null
      then inkfast.put_content(row(m.tenant, inkfast.now_v1(), null, null, ${nodes}, ${references}, ${ids})::inkfast.content_list) end)`,
        ],
      }
    },
  }
}
