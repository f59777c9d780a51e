// Text of people and models takes time in proportion to its length, wherever it comes in. One quadratic path blocks a node for seconds, because
// JavaScript has one thread.

import { expect, test } from 'vitest'
import { InkError, type Store } from '../src/index.ts'
import { engines, expectSound, openIn } from './support/engines.ts'

const SHORT = 4 * 1024
const TIMES = 8
/** A linear path takes eight times as long for eight times the text, a quadratic one sixty-four times. */
const MOST_GROWTH = 24
/** Below this, the measurement is noise, and nobody waits for it. */
const QUICK_MS = 40

/** Characters that some path might treat in a special way, repeated to a length. */
const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  letters: (length) => 'a'.repeat(length),
  Chinese: (length) => '漢'.repeat(length),
  'open brackets': (length) => '['.repeat(length),
  'open quotes and braces': (length) => '{"a":'.repeat(length / 5),
  slashes: (length) => '/'.repeat(length),
  assignments: (length) => 'sig='.repeat(length / 4),
  'words and stars': (length) => 'ab* '.repeat(length / 4),
  dots: (length) => 'a.'.repeat(length / 2),
  backslashes: (length) => '\\'.repeat(length),
  spaces: (length) => ' '.repeat(length),
}

/** Members whose calls take no text, or only an id, a key or options that the calls above check in the same way. */
const WITHOUT_TEXT: readonly string[] = [
  ...[
    'blobs',
    'queues',
    'unhandled',
    'usage',
    'work',
    'runs',
    'pin',
    'unpin',
    'collect',
    'threads',
    'canvases',
    'collections',
    'audit',
    'attachments',
  ].map((member) => `store.${member}`),
  ...['created', 'lease', 'run', 'inputs', 'threads', 'canvases', 'head', 'checkpoint', 'frames', 'graph'].map(
    (member) => `session.${member}`,
  ),
]

type Call = (text: string, n: number) => unknown

/** Every call that takes text of people or models, by the member that it belongs to. */
async function entries(store: Store): Promise<Readonly<Record<string, Call>>> {
  const session = await store.session('s')
  const run = await session.run('r')
  const process = await store.processes.register('p', { kind: 'k', recovery: 'external' })
  const canvas = session.canvas('c')
  await canvas.replace({ text: '' })
  await session.core.set('human', 'x')
  await store.cron.set('j', { every: '1h', queue: 'q' })
  await store.triggers.on('t', { source: 'source', queue: 'q' })
  await store.memory.remember('the cat sat on the mat')
  const docs = store.vectors('v', { dimensions: 1 })
  const message = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] }) as const
  const stream = (id: string) => session.thread.stream(id)
  return {
    'store.session': (text) => store.session(text),
    'store.session, its title': (text, n) => store.session(`titled ${n}`, { title: text }),
    'store.sessions.list': (text) => store.sessions.list({ text }),
    'store.sessions.find': (text) => store.sessions.find(text),
    'store.tenant': (text) => store.tenant(text),
    'store.as': (text) => store.as(text),
    'store.appendAll': (text) => store.appendAll([{ type: 'a.b', data: { text } }]),
    'store.erase': (text) => store.erase({ seq: 1_000_000, reason: text }),
    'store.signal': (text) => store.signal('s', 'name', text),
    'store.start': (text, n) => store.start('x', { session: `started ${n}`, input: text }),
    'store.queue.offer': (text) => store.queue('q').offer(text),
    'store.queue, its name': (text) => store.queue(text).offer(1),
    'store.cron.set': (text) => store.cron.set('x', { cron: text, queue: 'q' }),
    'store.triggers.fire': (text) => store.triggers.fire('source', { text }),
    'store.processes.register': (text, n) => store.processes.register(`p ${n}`, { kind: text, recovery: 'external' }),
    'process.event': (text) => process.event('a.b', { text }),
    'store.approvals.request': (text) => store.approvals.request({ subject: text }),
    'store.state.set': (text) => store.state.set('k', { text }),
    'store.state.set, its key': (text) => store.state.set(text, 1),
    'store.snapshots.save': (text) => store.snapshots.save('s', { state: { text } }),
    'store.values.put': (text) => store.values.put({ text }),
    'store.values.putText': (text) => store.values.putText(JSON.stringify(text)),
    'store.values.putText, not JSON': (text) => store.values.putText(text),
    'store.artifacts.put': (text) => store.artifacts.put('n', text, new Uint8Array(1)),
    'store.memory.remember': (text) => store.memory.remember(text),
    'store.memory.recall': (text) => store.memory.recall(text),
    'store.vectors, their name': (text) => store.vectors(text, { dimensions: 1 }),
    'vectors.upsert': (text) => docs.upsert({ id: 'a', vector: [1], metadata: { text } }),
    'session.append': (text) => session.append('a.b', { text }),
    'session.append, its type': (text) => session.append(text, 1),
    'session.append, a key of an object': (text) => session.append('a.b', { [text]: 'x' }),
    'session.rename': (text) => session.rename(text),
    'session.describe': (text) => session.describe({ title: text }),
    'session.input': (text) => session.input({ text }),
    'session.inbox.offer': (text) => session.inbox.offer({ text }, { kind: 'turn', delivery: 'afterTurn' }),
    'session.thread.add': (text, n) => session.thread.add(message(`m${n}`, text)),
    'session.thread.stream, its text': async (text, n) => {
      const written = stream(`t${n}`)
      for (const chunk of [{ type: 'start' }, { type: 'text-start', id: '1' }]) await written.write(chunk as never)
      for (const delta of pieces(text)) await written.write({ type: 'text-delta', id: '1', delta } as never)
      await written.close()
    },
    'session.thread.stream, the input of a tool': async (text, n) => {
      const written = stream(`i${n}`)
      await written.write({ type: 'tool-input-start', toolCallId: '1', toolName: 't' } as never)
      for (const delta of pieces(text)) await written.write({ type: 'tool-input-delta', toolCallId: '1', inputTextDelta: delta } as never)
      await written.close()
    },
    'session.commitTurn': (text, n) => session.commitTurn({ turn: `t${n}`, nodes: [{ id: `n${n}`, parent: null, payload: { text } }] }),
    'session.configure': (text) => session.configure({ model: text }),
    'session.attachments.put': (text) => session.attachments.put(new Uint8Array(1), { name: text }),
    'session.canvas.patch': (text) => session.canvas('c').patch([{ op: 'replace', path: '/text', value: text }]),
    'session.canvas.patch, its path': (text) => canvas.patch([{ op: 'add', path: text, value: 1 }]),
    'session.core.set': (text) => session.core.set('human', text),
    'session.core.replace': (text) => session.core.replace('human', text, 'b'),
    'session.state.set': (text) => session.state.set('k', { text }),
    'session.delete': async (text, n) => (await store.session(`deleted ${n}`)).delete({ reason: text }),
    'run.effect': (text, n) => run.effect(`e ${n}`, () => text),
  }
}

/** What a model streams: a few characters at a time. */
function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 16) yield text.slice(at, at + 16)
}

let calls = 0

/** Milliseconds of this thread. Refusals count too: a text that is refused has been read. */
async function costOf(call: Call, text: string): Promise<number> {
  const before = process.threadCpuUsage()
  try {
    await call(text, calls++)
  } catch (error) {
    if (!(error instanceof InkError)) throw error
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** How many times as long the longer text took, in the best of some tries: whatever else the machine does can only add to a time. */
async function growthOf(call: Call, textOf: (length: number) => string): Promise<number> {
  let [short, long] = [Infinity, Infinity]
  for (let tries = 0; tries < 4; tries++) {
    short = Math.min(short, await costOf(call, textOf(SHORT)))
    long = Math.min(long, await costOf(call, textOf(SHORT * TIMES)))
    if (long < QUICK_MS || long / short < MOST_GROWTH) return long / short > MOST_GROWTH ? 1 : long / short
  }
  return long / short
}

test('the time of every call that takes text grows with the length of the text, and no faster', async () => {
  const store = await openIn(':memory:')
  const steep: string[] = []
  for (const [name, call] of Object.entries(await entries(store)))
    for (const [kind, textOf] of Object.entries(TEXTS)) {
      const growth = await growthOf(call, textOf).catch((error: unknown) => String(error))
      if (typeof growth === 'string' || growth > MOST_GROWTH) steep.push(`${name} with ${kind}: ${growth}`)
    }
  expect(steep).toEqual([])
})

test('the calls above reach what they are about: only these refuse a word', async () => {
  const store = await openIn(':memory:')
  const refused: string[] = []
  for (const [name, call] of Object.entries(await entries(store)))
    await (async () => call('word', calls++))().catch((error: unknown) => refused.push(`${name}: ${(error as InkError).code}`))
  expect(refused).toEqual([
    'store.erase: EVENT_UNKNOWN',
    'store.cron.set: SCHEDULE_INVALID',
    'store.values.putText, not JSON: DATA_INVALID',
    'session.append, its type: TYPE_INVALID',
    'session.canvas.patch, its path: PATCH_INVALID',
  ])
})

test('a quadratic call is found', async () => {
  const quadratic = (text: string) => {
    let found = 0
    for (let at = 0; at < text.length; at += 8) found += /^a*b/.test(text.slice(at)) ? 1 : 0
    return found
  }
  expect(await growthOf(quadratic, TEXTS.letters as (length: number) => string)).toBeGreaterThan(MOST_GROWTH)
})

const fail = (): never => {
  throw new TypeError('of the caller')
}

/** Objects of a caller where a text or data is expected. */
const hostile: Readonly<Record<string, () => object>> = {
  'an object that becomes no text': () => ({ toString: fail, valueOf: fail, toJSON: fail, [Symbol.toPrimitive]: fail }),
  'an instance without a name': () => Object.create(Object.create({}, { constructor: { get: fail } })),
  'a getter that throws': () => Object.defineProperty({}, 'text', { get: fail, enumerable: true }),
  'a proxy that answers nothing': () =>
    new Proxy({}, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail }),
}

/** These change the text themselves, before a call is made. */
const BY_THE_TEST = ['store.values.putText', 'session.append, a key of an object', 'session.thread.stream']

test.each(Object.entries(hostile))('%s is a typed refusal wherever text or data is taken', async (_, make) => {
  const store = await openIn(':memory:')
  const told: Record<string, string> = {}
  for (const [name, call] of Object.entries(await entries(store))) {
    if (BY_THE_TEST.some((one) => name === one || name.startsWith(`${one},`))) continue
    try {
      await call(make() as never, calls++)
      told[name] = 'taken'
    } catch (error) {
      if (!(error instanceof InkError)) told[name] = String(error)
    }
  }
  expect(told).toEqual({})
})

test('every member of a store, a session and a run is tried above, unless none of its calls takes text', async () => {
  const store = await openIn(':memory:')
  const tried = Object.values(await entries(store))
    .map(String)
    .join('\n')
  const session = await store.session('s')
  const handles = { store, session }
  const members = Object.entries(handles).flatMap(([name, handle]) => Object.keys(handle).map((member) => `${name}.${member}`))
  expect(members.filter((member) => !tried.includes(`${member}.`) && !tried.includes(`${member}(`))).toEqual(WITHOUT_TEXT)
})

test.each(engines)('nesting of any depth in text of a model is a typed refusal on $name, and changes nothing', async (engine) => {
  const store = await engine.open()
  const session = await store.session('s')
  const canvas = session.canvas('c')
  await canvas.replace({ text: '' })
  const refusedBy = async (work: () => Promise<unknown>): Promise<unknown> =>
    ((await work().catch((error: unknown) => error)) as InkError).code
  for (const depth of [600, 5000, 100_000]) {
    const { seq } = await store.head()
    expect(await refusedBy(() => canvas.patch([{ op: 'add', path: '/a'.repeat(depth), value: 1 }]))).toBe('PATCH_INVALID')
    for (const [beginning, end] of [
      ['[', ''],
      ['{"a":', ''],
      ['[', ']'],
      ['{"constructor":', '{}'],
    ] as const) {
      const message = session.thread.stream(`${depth}${beginning}${end}`)
      await message.write({ type: 'tool-input-start', toolCallId: '1', toolName: 't' })
      await message.write({ type: 'tool-input-delta', toolCallId: '1', inputTextDelta: beginning.repeat(depth) + end })
      expect(await refusedBy(() => message.flush()), beginning + end).toBe('DATA_INVALID')
    }
    expect((await store.head()).seq).toBe(seq)
  }
  await expectSound(store)
})
