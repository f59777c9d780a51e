// A handle outlives its session. Once the session was deleted, by this process or another, its reads do not answer as if it were empty.

import { describe, expect, test } from 'vitest'
import type { Session, Store } from '../src/index.ts'
import type { Backend } from '../src/ports/backend.ts'
import { shared } from './runs/in-memory.ts'
import { codeOf, expectSound, lentDatabase, openIn, tempFile } from './support/engines.ts'

type Open = () => Promise<Store>

const engines: readonly { readonly name: string; readonly make: () => Promise<Open> }[] = [
  {
    name: 'memory',
    make: async () => {
      const another = shared()
      return () => another()
    },
  },
  {
    name: 'sqlite',
    make: async () => {
      const path = tempFile()
      return () => openIn(path)
    },
  },
  {
    name: 'postgres',
    make: async () => {
      const url = await lentDatabase()
      return () => openIn(url)
    },
  },
]

const all = async (items: AsyncIterable<unknown>): Promise<readonly unknown[]> => {
  const list: unknown[] = []
  for await (const item of items) list.push(item)
  return list
}

interface Known {
  readonly thread: string
  readonly input: string
  readonly item: string
  readonly file: string
}

const NO_ID = '0'.repeat(26)
const NOTHING: Known = { thread: NO_ID, input: NO_ID, item: NO_ID, file: '0'.repeat(64) }

/** Every call of a handle that reads or that changes only what is there. */
const reads = (session: Session, { thread, input, item, file }: Known): Record<string, () => Promise<unknown>> => ({
  'thread.get': () => session.thread.get('m'),
  'thread.messages': () => session.thread.messages(),
  'thread.record': () => session.thread.record('m'),
  'thread.info': () => session.thread.info(),
  'threads.get': () => session.threads.get(thread),
  'threads.list': () => session.threads.list(),
  'state.get': () => session.state.get('k'),
  'state.exists': () => session.state.exists('k'),
  'state.list': () => all(session.state.list()),
  'state.entry': () =>
    session.state.entry('k', { value: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } } }).get(),
  head: () => session.head(),
  checkpoint: () => session.checkpoint(),
  'frames.list': () => session.frames.list(),
  'graph.list': () => session.graph.list(),
  'graph.path': () => session.graph.path(),
  'graph.node': () => session.graph.node('n'),
  'graph.children': () => session.graph.children(null),
  'graph.window': () => session.graph.window('n'),
  'inputs.list': () => session.inputs.list(),
  'inputs.get': () => session.inputs.get(input),
  'inbox.list': () => session.inbox.list(),
  'inbox.get': () => session.inbox.get(item),
  'attachments.get': () => session.attachments.get(file),
  'attachments.stat': () => session.attachments.stat(file),
  'attachments.stream': () => all(session.attachments.stream(file)),
  'attachments.list': () => session.attachments.list(),
  'core.get': () => session.core.get(),
  'core.get, one block': () => session.core.get('human'),
  'canvas.get': () => session.canvas('c').get(),
  'canvas.at': () => session.canvas('c').at({ version: 1 }),
  'canvas.history': () => all(session.canvas('c').history()),
  canvases: () => session.canvases(),
})

/** What was offered to a session stays when it is deleted, cancelled and without its content. */
const CANCELLED = ['inputs.list', 'inputs.get', 'inbox.list', 'inbox.get']

const codesOf = async (calls: ReturnType<typeof reads>): Promise<Readonly<Record<string, string>>> => {
  const codes: Record<string, string> = {}
  for (const [name, call] of Object.entries(calls)) codes[name] = await codeOf(call())
  return codes
}

async function filled(session: Session): Promise<Known> {
  await session.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] })
  const { id: thread } = await session.threads.create()
  await session.state.set('k', 1)
  await session.frames.open('f')
  await session.commitTurn({ turn: 't', nodes: [{ id: 'n', parent: null, payload: 1 }], checkpoint: { a: 1 } })
  const { id: input } = await session.input('hello')
  const { id: item } = await session.inbox.offer({ wake: 1 }, { kind: 'turn', delivery: 'afterTurn' })
  const { id: file } = await session.attachments.put(new Uint8Array([1]))
  await session.core.set('human', 'Ada')
  await session.canvas('c').replace({ a: 1 })
  return { thread, input, item, file }
}

const eachOf = (calls: object, code: string) => Object.fromEntries(Object.keys(calls).map((name) => [name, code]))

describe.each(engines)('the handle of a deleted session on $name', ({ make }) => {
  test.each(['this process', 'another process'])('refuses every read once %s has deleted the session', async (by) => {
    const open = await make()
    const store = await open()
    const session = await store.session('s')
    const known = await filled(session)
    expect(await codesOf(reads(session, known))).toEqual(eachOf(reads(session, known), 'no error'))
    const other = by === 'this process' ? store : await open()
    await (await other.session('s')).delete({ reason: 'asked for' })
    const cancelled = await Promise.all([session.inputs.get(known.input), session.inbox.get(known.item)])
    expect(cancelled).toMatchObject([{ state: 'cancelled' }, { state: 'cancelled' }])
    const gone = reads(session, known)
    for (const name of CANCELLED) delete gone[name]
    expect(await codesOf(gone)).toEqual(eachOf(gone, 'SESSION_DELETED'))
    expect(await codeOf(session.append('a.b', 1))).toBe('SESSION_DELETED')
    // The key is free again, and the new session is empty and not deleted.
    const empty = reads(await store.session('s'), NOTHING)
    const { 'graph.window': _, 'attachments.stream': _stream, ...codes } = await codesOf(empty)
    expect(codes).toEqual(eachOf(codes, 'no error'))
    await expectSound(store)
  })
})

test('a read that finds something does not look at its session', async () => {
  let looked: string[] = []
  const counting = (backend: Backend): Backend => ({
    ...backend,
    rows: {
      ...backend.rows,
      get: (tenant, table, id) => {
        if (table === 'sessions') looked.push(id)
        return backend.rows.get(tenant, table, id)
      },
    },
  })
  const store = await shared()({}, counting)
  const session = await store.session('s')
  // The head shows the title, which is the session's own.
  const { head: _, ...calls } = reads(session, await filled(session))
  looked = []
  expect(await codesOf(calls)).toEqual(eachOf(calls, 'no error'))
  expect(looked).toEqual([])
  await session.state.get('nothing')
  expect(looked).toEqual([session.id])
})

test('every method of a handle is tried above, unless it writes or takes part in a run', async () => {
  const store = await openIn(':memory:')
  const session = await store.session('s')
  const tried = Object.keys(reads(session, NOTHING)).map((name) => name.split(',')[0])
  const methodsOf = (of: object): readonly string[] => {
    const own = Object.getPrototypeOf(of) === Object.prototype ? [] : Object.getOwnPropertyNames(Object.getPrototypeOf(of))
    return [...new Set([...Object.keys(of), ...own])].filter(
      (name) => typeof Reflect.get(of, name) === 'function' && name !== 'constructor',
    )
  }
  const members = ['thread', 'threads', 'state', 'frames', 'graph', 'inputs', 'inbox', 'attachments', 'core'] as const
  const methods = [
    ...methodsOf(session),
    ...members.flatMap((member) => methodsOf(session[member]).map((method) => `${member}.${method}`)),
    ...methodsOf(session.canvas('c')).map((method) => `canvas.${method}`),
  ]
  expect(methods.filter((method) => !tried.includes(method))).toEqual([
    'lease',
    'run',
    'input',
    'canvas',
    'configure',
    'commitTurn',
    'append',
    'rename',
    'describe',
    'archive',
    'reopen',
    'delete',
    'fork',
    'toJSON',
    'thread.add',
    'thread.update',
    'thread.remove',
    'thread.erase',
    'thread.import',
    'thread.repair',
    'thread.stream',
    'thread.rename',
    'thread.archive',
    'thread.reopen',
    'thread.delete',
    'threads.create',
    'threads.rename',
    'threads.archive',
    'threads.reopen',
    'threads.delete',
    'state.set',
    'state.write',
    'state.delete',
    'frames.open',
    'frames.use',
    'graph.moveTo',
    'graph.remove',
    'graph.vacuum',
    'inputs.cancel',
    'inputs.cancelFrom',
    'inputs.prune',
    'inbox.offer',
    'inbox.cancel',
    'inbox.prune',
    'attachments.put',
    'attachments.commit',
    'attachments.forget',
    'core.set',
    'core.append',
    'core.replace',
    'core.reset',
    'core.history',
    'canvas.patch',
    'canvas.replace',
    'canvas.undo',
    'canvas.restore',
    'canvas.close',
    'canvas.compact',
    'canvas.subscribe',
  ])
})
