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
    const depths = new Map<string, number>()
    for (const node of onPath ? page.nodes : inOrder(page.nodes)) {
      const depth = onPath || node.parent === null ? 0 : (depths.get(node.parent) ?? -1) + 1
      depths.set(node.id, depth)
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
    path || leaf !== undefined
      ? await graph.path({ last, ...given({ leaf, frame }) })
      : await graph.list({ first: last, ...given({ frame }) })
  return { nodes: [...list], ...given({ cursor: list.cursor }) }
}

/** Each node before its children. Nodes whose parent is on another page come first of their branch. */
function inOrder(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const known = new Set(nodes.map(({ id }) => id))
  const children = Map.groupBy(nodes, ({ parent }) => (parent !== null && known.has(parent) ? parent : null))
  const ordered: GraphNode[] = []
  const waiting = [...(children.get(null) ?? [])].reverse()
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    ordered.push(next)
    // A straight conversation stays flat in the order; branches follow one another.
    waiting.push(...[...(children.get(next.id) ?? [])].reverse())
  }
  return ordered
}

function textOf({ payload, plugin }: GraphNode): string {
  const text = payload === undefined ? '(erased)' : jsonLine(payload)
  const cut = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text
  return plugin === undefined ? cut : `[${plugin}] ${cut}`
}
