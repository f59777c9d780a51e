// Lists threads, or shows the messages of one.

import type { Store, StoredMessage, Thread, ThreadState } from '../../index.ts'
import { EXIT, type Exit } from '../exit.ts'
import { time } from '../format.ts'
import { findSession, sessionNames, tenantView, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, namedWords, onlyStore } from '../words.ts'

export interface ThreadsOptions {
  readonly session?: string
  readonly user?: string
  readonly state?: string
  readonly last?: number
  readonly cursor?: string
  readonly before?: string
  readonly tenant?: string
}

const LISTED = 20
const SHOWN = 40
const FOLDED = 60

export function listThreads(t: Terminal, words: readonly string[], options: ThreadsOptions): Promise<Exit> {
  return withStore(onlyStore(words), async (root) => list(t, await tenantView(root, options.tenant), options))
}

export function showThread(t: Terminal, words: readonly string[], options: ThreadsOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { thread: 'inkfast threads list' })
  return withStore(url, async (root) => show(t, await tenantView(root, options.tenant), names[0] as string, options))
}

async function list(t: Terminal, store: Store, { session, user, state, last, cursor }: ThreadsOptions): Promise<Exit> {
  const threads = session === undefined ? store.threads : (await findSession(store, session)).threads
  const page = await threads.list({ last: last ?? LISTED, ...given({ user, state: state as ThreadState | undefined, cursor }) })
  if (t.json) {
    t.out(jsonLine(page))
    return EXIT.fine
  }
  const sessions = await sessionNames(
    store,
    page.items.map((thread) => thread.session),
  )
  if (page.items.length === 0) t.note(`No thread matches in tenant ${store.tenantId}.`)
  else
    printTable(
      t,
      [
        { title: 'thread', style: 'bold' },
        { title: 'session', most: 24 },
        { title: 'state' },
        { title: 'messages', right: true },
        { title: 'last (UTC)', style: 'dim' },
        { title: 'user', most: 20, optional: true },
        { title: 'title' },
      ],
      page.items.map(({ id, session: of, state: now, messages, lastAt, user: who, title, main }) => [
        id,
        sessions.get(of) ?? '',
        now,
        String(messages),
        lastAt === undefined ? '' : time(lastAt),
        who ?? '',
        title ?? (main ? '(default)' : ''),
      ]),
    )
  if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
  return EXIT.fine
}

async function show(t: Terminal, store: Store, name: string, { last = SHOWN, before }: ThreadsOptions): Promise<Exit> {
  const thread = await findThread(store, name)
  const messages = await thread.messages({ last, ...given({ before }) })
  const records = await Promise.all(messages.map(({ id }) => thread.record(id)))
  if (t.json) {
    t.out(jsonLine({ thread: thread.id, messages, records: Object.fromEntries(messages.map(({ id }, i) => [id, records[i]])) }))
    return EXIT.fine
  }
  if (messages.length === 0) t.note('The thread has no messages.')
  for (const [i, message] of messages.entries()) {
    const marks = records[i]?.interrupted ? ' (interrupted)' : ''
    t.out(`${harmless(message.role)} ${harmless(message.id)}${marks}\n${bodyOf(message)}\n`)
  }
  if (messages.length === last) t.note(`Earlier: add --before '${harmless((messages[0] as StoredMessage).id)}'`)
  return EXIT.fine
}

/** The name is the id of a thread, or the key or id of a session, which means its default thread. */
async function findThread(store: Store, name: string): Promise<Thread> {
  const found = /^[0-9A-HJKMNP-TV-Z]{26}$/.test(name) ? await store.threads.get(name) : undefined
  return found ?? (await findSession(store, name)).thread
}

const bodyOf = ({ parts }: StoredMessage): string =>
  parts
    .flatMap((part) => lineOf(part))
    .map((line) => `  ${line}`)
    .join('\n')

/** A part of any type, also of one that this version does not know. */
type Shown = { readonly type: string; readonly [member: string]: unknown }

/** Texts as they are, line by line; everything else folded into one line. */
function lineOf(part: Shown): readonly string[] {
  const { type } = part
  if (type === 'text') return String(part.text).split('\n').map(harmless)
  if (type === 'step-start') return []
  if (type === 'reasoning') return [`… ${folded(part.text)}`]
  if (type === 'dynamic-tool' || type.startsWith('tool-')) {
    const name = type === 'dynamic-tool' ? part.toolName : type.slice('tool-'.length)
    const result = part.output ?? part.errorText ?? part.state
    return [`▸ ${harmless(String(name))}(${folded(part.input ?? '')}) → ${folded(result)}`]
  }
  if (type === 'file' || type === 'reasoning-file') return [`[${harmless(String(part.filename ?? part.mediaType))}]`]
  return [`[${harmless(type)}] ${folded(part.data ?? part.url ?? part.title ?? '')}`]
}

function folded(value: unknown): string {
  const text = harmless(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', ' ')
  return text.length > FOLDED ? `${text.slice(0, FOLDED)}…` : text
}
