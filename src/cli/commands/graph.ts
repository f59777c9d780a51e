// Shows the message graph of a session as a tree, or the path to one node.

import type { GraphNode, Session } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { one } from '../format.ts'
import { findSession, tenantView, withStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, namedWords } from '../words.ts'

export interface GraphOptions {
  readonly tenant?: string
  /** Shows the path to this node instead of the tree. */
  readonly leaf?: string
  /** Shows the active path instead of the tree. */
  readonly path?: boolean
  readonly frame?: string
  readonly last?: number
}

const LAST_BY_DEFAULT = 200
const SHOWN_CHARS = 100

export function showGraph(t: Terminal, words: readonly string[], options: GraphOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { session: 'inkfast sessions list' })
  return withStore(url, async (root) => {
    const session = await findSession(await tenantView(root, options.tenant), names[0] as string)
    const { leaf, revision, nodes: count } = await session.head()
    const onPath = options.path || options.leaf !== undefined
    const page = await read(session, options)
    if (t.json) {
      t.out(jsonLine({ session: session.id, revision, ...given({ leaf, cursor: page.cursor }), nodes: page.nodes }))
      return EXIT.fine
    }
    if (page.nodes.length === 0)
      t.note(options.frame === undefined ? 'The session has no nodes.' : `No node of frame '${harmless(options.frame)}'.`)
    for (const { node, depth } of onPath ? page.nodes.map((found) => ({ node: found, depth: 0 })) : inOrder(page.nodes)) {
      const mark = node.id === leaf ? t.paint('bold', ' ← leaf') : ''
      t.out(`${'  '.repeat(depth)}${t.paint('cyan', harmless(node.id))} ${harmless(textOf(node))}${mark}`)
    }
    t.note(
      `${one(count, 'node')} in the session, revision ${revision}.${page.cursor === undefined ? '' : ' There are more: raise --last.'}`,
    )
    return EXIT.fine
  })
}

async function read(
  { graph }: Session,
  options: GraphOptions,
): Promise<{ readonly nodes: readonly GraphNode[]; readonly cursor?: string }> {
  const { leaf, frame, path, last = LAST_BY_DEFAULT } = options
  const list =
    path || leaf !== undefined ? await graph.path({ last, ...given({ leaf, frame }) }) : await graph.list({ last, ...given({ frame }) })
  // A path is given root first, a list newest first.
  const nodes = path || leaf !== undefined ? [...list] : list.toReversed()
  return { nodes, ...given({ cursor: list.cursor }) }
}

interface Placed {
  readonly node: GraphNode
  readonly depth: number
}

/**
 * Each node before its children. A straight conversation stays flat, and branches are indented and follow one another. A node whose parent is on
 * another page begins a branch of its own.
 */
function inOrder(nodes: readonly GraphNode[]): readonly Placed[] {
  const known = new Set(nodes.map(({ id }) => id))
  const children = Map.groupBy(nodes, ({ parent }) => (parent !== null && known.has(parent) ? parent : null))
  const ordered: Placed[] = []
  const waiting: Placed[] = (children.get(null) ?? []).map((node) => ({ node, depth: 0 })).reverse()
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    ordered.push(next)
    const below = children.get(next.node.id) ?? []
    const depth = below.length > 1 ? next.depth + 1 : next.depth
    waiting.push(...below.map((node) => ({ node, depth })).reverse())
  }
  return ordered
}

function textOf({ payload, plugin }: GraphNode): string {
  const text = payload === undefined ? '(erased)' : jsonLine(payload)
  const cut = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text
  return plugin === undefined ? cut : `[${plugin}] ${cut}`
}
