// Checks the nodes of a commit against the graph: unique ids, known parents, no circle, a leaf inside. Pure.

import { refuse } from '../../../model/errors.ts'

export interface CheckedNode {
  readonly id: string
  readonly parent: string | null
}

/** The part of the stored graph that the nodes touch. */
export interface KnownNodes {
  /** Ids that are taken, also by hidden nodes. */
  readonly taken: ReadonlySet<string>
  /** Ids of nodes that can be parents or the leaf. */
  readonly live: ReadonlySet<string>
}

/** Throws an error that names the first offender. */
export function checkNodes(nodes: readonly CheckedNode[], known: KnownNodes, session: string): void {
  const added = new Map<string, CheckedNode>()
  for (const node of nodes) {
    if (added.has(node.id) || known.taken.has(node.id)) throw refuse('NODE_DUPLICATE', { session, node: node.id })
    added.set(node.id, node)
  }
  for (const { id, parent } of nodes)
    if (parent !== null && !added.has(parent) && !known.live.has(parent)) throw refuse('NODE_PARENT_UNKNOWN', { session, node: id, parent })
  const fine = new Set<string>()
  for (const { id } of nodes) {
    const walked = new Set<string>()
    for (let at: string | null = id; at !== null && !fine.has(at); ) {
      const node = added.get(at)
      if (!node) break
      if (walked.has(at)) throw refuse('NODE_CYCLE', { session, node: at })
      walked.add(at)
      at = node.parent
    }
    for (const one of walked) fine.add(one)
  }
}

export function checkLeaf(leaf: string, nodes: readonly CheckedNode[], known: KnownNodes, session: string): void {
  if (!known.live.has(leaf) && !nodes.some(({ id }) => id === leaf)) throw refuse('LEAF_UNKNOWN', { session, leaf })
}
