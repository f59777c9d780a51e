// The nodes of this process: run nodes, queue workers and the scheduler. They hear at once of work that this process offers, and the
// store closes them.

import { enginePart } from '../../wiring/per-engine.ts'

interface Node {
  look(): void
  close(): Promise<void>
}

export class LocalNodes {
  readonly #nodes = new Set<Node>()

  /** Returns how to remove the node. */
  add(node: Node): () => void {
    this.#nodes.add(node)
    return () => this.#nodes.delete(node)
  }

  /** Makes every node look for work, in whichever tenant it was offered. */
  wake(): void {
    for (const node of this.#nodes) node.look()
  }

  /** Every node stops claiming, and releases what it has claimed. */
  async close(): Promise<void> {
    await Promise.all([...this.#nodes].map((node) => node.close()))
  }
}

export const localNodesOf = enginePart(() => new LocalNodes())
