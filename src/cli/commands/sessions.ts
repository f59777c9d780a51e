// Lists sessions, or shows one.

import type { BranchState, SessionRow, SessionState, Store } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { one, time } from '../format.ts'
import { progress } from '../progress.ts'
import { findSession, tenantView, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { harmless, jsonLine, padEnd } from '../text.ts'
import { given, namedWords, onlyStore } from '../words.ts'

export interface SessionsOptions {
  readonly state?: string
  readonly owner?: string
  readonly branch?: string
  readonly relation?: string
  readonly parent?: string
  readonly text?: string
  readonly last?: number
  readonly cursor?: string
  readonly tenant?: string
}

const LAST_BY_DEFAULT = 20

export function listSessions(t: Terminal, words: readonly string[], options: SessionsOptions): Promise<Exit> {
  const url = onlyStore(words)
  return withStore(url, async (root) => list(t, await tenantView(root, options.tenant), options))
}

export function showSession(t: Terminal, words: readonly string[], options: SessionsOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { session: 'inkfast sessions list' })
  return withStore(url, async (root) => show(t, await tenantView(root, options.tenant), names[0] as string))
}

async function list(t: Terminal, store: Store, options: SessionsOptions): Promise<Exit> {
  const { state, owner, branch, relation, parent, text, last, cursor } = options
  const page = await store.sessions.list({
    summary: true,
    last: last ?? LAST_BY_DEFAULT,
    ...(state !== undefined && { state: state as SessionState }),
    ...given({ owner, branch: branch as BranchState | undefined, relation, text, cursor }),
    ...(parent !== undefined && { parent: (await findSession(store, parent)).id }),
  })
  if (t.json) {
    t.out(jsonLine(page))
    return EXIT.fine
  }
  if (page.items.length === 0)
    t.note(page.cursor === undefined ? `No session matches in tenant ${store.tenantId}.` : 'No match on this page.')
  else {
    printTable(
      t,
      [
        { title: 'key', most: 36, style: 'bold' },
        { title: 'state' },
        { title: 'opened (UTC)', style: 'dim' },
        { title: 'active (UTC)', style: 'dim' },
        { title: 'owner', most: 20, optional: true },
        { title: 'nodes', right: true, optional: true },
        { title: 'run', optional: true },
        { title: 'title' },
      ],
      page.items.map((s) => [
        s.key ?? s.id,
        s.state,
        time(s.openedAt),
        time(s.activeAt),
        s.owner ?? '',
        s.counts.nodes === 0 ? '' : String(s.counts.nodes),
        s.lastRun?.state ?? '',
        s.title ?? s.firstMessage ?? '',
      ]),
    )
  }
  if (page.previous !== undefined) t.note(`Before: add --cursor '${harmless(page.previous)}'`)
  if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
  return EXIT.fine
}

async function show(t: Terminal, store: Store, name: string): Promise<Exit> {
  const session = await findSession(store, name)
  const row: SessionRow = session.toJSON()
  const usage = new Map<string, number>()
  let [events, first, last] = [0, 0, 0]
  const { seq: end } = await store.head()
  const reading = progress(t, 'reading the session')
  for await (const e of store.events({ session: session.id, signal: t.signal })) {
    events++
    usage.set(e.type, (usage.get(e.type) ?? 0) + 1)
    if (first === 0) first = e.seq
    last = e.seq
    reading.tell(last, end)
  }
  reading.end()
  const head = await session.head()
  const types = [...usage].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  if (t.json) {
    t.out(jsonLine({ session: row, head, events: { count: events, first, last, types: Object.fromEntries(types) } }))
    return EXIT.fine
  }
  const line = (label: string, value: string | undefined) =>
    value !== undefined && t.out(`${t.paint('dim', padEnd(label, 10))}${harmless(value)}`)
  line('key', row.key)
  line('id', row.id)
  line('title', row.title)
  line('state', row.state)
  line('owner', row.owner)
  line('branch', row.branch)
  line('relation', row.relation && jsonLine(row.relation))
  line('metadata', row.metadata && jsonLine(row.metadata))
  line('model', head.config.model)
  line(
    'head',
    head.revision === 0
      ? undefined
      : `revision ${head.revision}, leaf ${head.leaf ?? 'none'}, ${one(head.nodes, 'node')}, ${one(head.turns, 'turn')}`,
  )
  line('message', head.firstMessage)
  line('opened', `${time(row.openedAt)} UTC`)
  line('changed', `${time(row.changedAt)} UTC`)
  line('events', events === 0 ? 'none' : `${one(events, 'event')}, seq ${first} to ${last}`)
  if (types.length > 0) {
    t.out('')
    printTable(
      t,
      [
        { title: 'events', right: true },
        { title: 'type', style: 'cyan' },
      ],
      types.map(([type, n]) => [String(n), type]),
    )
  }
  return EXIT.fine
}
