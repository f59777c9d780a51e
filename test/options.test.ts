// Every call that takes options refuses an unknown one. A misspelt option would be silently ignored: a list would return everything, and
// `rebuild` would write rows instead of comparing them.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { InkError, open, program, type StandardSchemaV1, type Store } from '../src/index.ts'
import { codeOf, engines, openIn } from './support/engines.ts'

const drain = async (events: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of events);
}

// `never` fits every parameter: callers in plain JavaScript have no types to stop them.
const mispelt = (more: object = {}): never => ({ ...more, mispelt: true }) as never

const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } }

async function calls(store: Store, wrong: (more?: object) => never = mispelt): Promise<Readonly<Record<string, () => unknown>>> {
  const session = await store.session('s')
  const run = await session.run('r')
  const handle = await store.start('x', { session: 's', parallel: true })
  const process = await store.processes.register('p', { kind: 'k', recovery: 'external' })
  const approval = await store.approvals.request({ subject: 'a' })
  const queue = store.queue('q')
  await queue.offer(1)
  const claim = await queue.claim()
  if (!claim) throw new Error('nothing was claimed')
  await store.cron.set('j', { every: '1h', queue: 'q' })
  await store.triggers.on('t', { source: 's', queue: 'q' })
  const docs = store.vectors('v', { dimensions: 1 })
  const ref = await store.values.put([1])
  return {
    session: () => store.session('new', wrong()),
    'session with a relation': () => store.session('new', { relation: wrong({ kind: 'k', session: session.id }) }),
    'sessions.list': () => store.sessions.list(wrong()),
    'appendAll, in an event': () => store.appendAll([wrong({ type: 'a.b', data: 1 })]),
    open: () => open(wrong({ url: ':memory:' })),
    'open with redact': () => open({ url: ':memory:', redact: wrong() }),
    'open with lease': () => open({ url: ':memory:', lease: wrong() }),
    append: () => session.append('a.b', 1, wrong()),
    appendAll: () => store.appendAll([{ type: 'a.b', data: 1 }], wrong()),
    events: () => drain(store.events(wrong())),
    page: () => store.page(wrong()),
    event: () => store.event(wrong({ key: 'k' })),
    erase: () => store.erase(wrong({ seq: 1, reason: 'r' })),
    verify: () => store.verify(wrong()),
    check: () => store.check(wrong()),
    rebuild: () => store.rebuild(wrong()),
    setTenantState: () => store.setTenantState('t', 'closed' as never, wrong({ reason: 'r' })),
    'session.describe': () => session.describe({}, wrong()),
    'session.delete': () => session.delete(wrong({ reason: 'r' })),
    'session.lease': () => session.lease(wrong()),
    'session.fork': () => session.fork(wrong({ at: 1 })),
    'thread.add': () => session.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }, wrong()),
    'thread.update': () => session.thread.update('m', (message) => message, wrong()),
    'thread.stream': async () => session.thread.stream('m', wrong()),
    'thread.erase': () => session.thread.erase('m', wrong({ reason: 'r' })),
    'thread.import': () => session.thread.import([], wrong()),
    'thread.messages': () => session.thread.messages(wrong()),
    'threads.create': () => session.threads.create(wrong()),
    'threads.list': () => session.threads.list(wrong()),
    'store.threads.list': () => store.threads.list(wrong()),
    'session.configure': () => session.configure(wrong()),
    'session.configure, its options': () => session.configure({}, wrong()),
    'session.frames.open': () => session.frames.open('f', wrong()),
    'session.graph.list': () => session.graph.list(wrong()),
    'session.graph.path': () => session.graph.path(wrong()),
    'session.graph.children': () => session.graph.children('n', wrong()),
    'session.graph.window': () => session.graph.window('n', wrong()),
    'session.graph.moveTo': () => session.graph.moveTo('n', wrong()),
    'session.graph.remove': () => session.graph.remove('n', wrong()),
    'session.graph.vacuum': () => session.graph.vacuum(wrong()),
    'thread.repair': () => session.thread.repair(wrong()),
    'session.commitTurn': () => session.commitTurn(wrong({ turn: 't' })),
    'session.commitTurn with a node': () => session.commitTurn({ turn: 't', nodes: [wrong({ id: 'a', parent: null, payload: 1 })] }),
    'session.commitTurn with an item': () => session.commitTurn({ turn: 't', enqueue: [wrong({ payload: 1 })] }),
    'open with canvas': () => open({ url: ':memory:', canvas: wrong() }),
    'canvas.patch': () => session.canvas('c').patch([], wrong()),
    'canvas.replace': () => session.canvas('c').replace({}, wrong()),
    'canvas.at': () => session.canvas('c').at(wrong({ version: 1 })),
    'canvas.history': () => drain(session.canvas('c').history(wrong())),
    'canvas.undo': () => session.canvas('c').undo(wrong()),
    'canvas.restore': () => session.canvas('c').restore(0, wrong()),
    'canvas.subscribe': () => drain(session.canvas('c').subscribe(wrong())),
    'session.canvases': () => session.canvases(wrong()),
    'canvases.list': () => store.canvases.list(wrong()),
    'canvases.recover': () => store.canvases.recover(wrong()),
    'run.canvas': () => run.canvas('c').patch([], wrong()),
    as: async () => store.as('ada', wrong()),
    'session.attachments.put': () => session.attachments.put(new Uint8Array(1), wrong()),
    'session.attachments.list': () => session.attachments.list(wrong()),
    'session.attachments.stream': async () => session.attachments.stream('0'.repeat(64), wrong()),
    'attachments.sweep': () => store.attachments.sweep(wrong()),
    'attachments.uncommitted': () => drain(store.attachments.uncommitted(wrong())),
    'blobs.put': () => store.blobs.put(new Uint8Array(1), wrong()),
    'blobs.get': () => store.blobs.get('0'.repeat(64), wrong()),
    'blobs.stream': async () => store.blobs.stream('0'.repeat(64), wrong()),
    'blobs.list': () => store.blobs.list(wrong()),

    vectors: async () => store.vectors('v', wrong({ dimensions: 1 })),
    'vectors, in a document': () => docs.upsert(wrong({ id: 'a', vector: [1] })),
    'vectors.upsert': () => docs.upsert({ id: 'a', vector: [1] }, wrong()),
    'vectors.search': () => docs.search([1], wrong()),
    'vectors.delete': () => docs.delete(wrong({ ids: ['a'] })),
    'vectors.count': () => docs.count(wrong()),
    'collections.list': () => store.collections.list(wrong()),
    'memory.backfill': () => store.memory.backfill(wrong()),
    'memory.remember': () => store.memory.remember('x', wrong()),
    'memory.rememberAll': () => store.memory.rememberAll([wrong({ text: 'x' })]),
    'memory.rememberAll, its options': () => store.memory.rememberAll([], wrong()),
    'memory.remember with a source': () => store.memory.remember('x', { source: wrong() }),
    'memory.remember with a validity': () => store.memory.remember('x', { valid: wrong() }),
    'memory.update': () => store.memory.update(session.id, wrong()),
    'memory.recall': () => store.memory.recall('x', wrong()),
    'memory.recall with weights': () => store.memory.recall('x', { weights: wrong() }),
    'open with memory': () => open({ url: ':memory:', memory: wrong() }),
    tenants: () => store.tenants(wrong()),
    'memory.maintain': () => store.memory.maintain(wrong()),
    'memory.subscribe': () => drain(store.memory.subscribe(wrong())),
    'run.recall': () => run.recall('x', wrong()),
    'run.remember': () => run.remember('x', wrong()),
    'memory.list': () => store.memory.list(wrong()),
    'memory.forget': () => store.memory.forget(wrong({ about: 'shared' })),
    'memory.purge': () => store.memory.purge(wrong({ about: 'shared' })),
    'memory.link': () => store.memory.link(session.id, session.id, wrong()),
    'core.set': () => session.core.set('human', 'x', wrong()),
    'core.append': () => session.core.append('human', 'x', wrong()),
    'core.replace': () => session.core.replace('human', 'x', 'y', wrong()),

    program: async () => program('x', wrong({ input: schema }), () => {}),
    queue: async () => store.queue('q', wrong({ payload: schema })),
    'state.entry': async () => store.state.entry('k', wrong({ value: schema })),
    run: () => session.run('x', wrong()),
    start: () => store.start('x', wrong({ session: 's' })),
    work: () => store.work({}, wrong()),
    'handle.result': () => handle.result(wrong()),
    'runs.list': () => store.runs.list(wrong()),
    'runs.effectKey': () => store.runs.effectKey(run.id, wrong({ branch: '', name: 'x', ordinal: 1 })),
    'runs.resolve': () => store.runs.resolve(run.id, 'x', wrong({ result: 1 })),
    usage: () => store.usage(wrong()),
    'audit.list': () => drain(store.audit.list(wrong())),
    'run.usage': () => run.usage({ inputTokens: 1 }, wrong({ model: 'm' })),
    signal: () => store.signal('s', 'x', 1, wrong()),
    'run.effect': () => run.effect('e', () => 1, wrong()),
    'run.effect with retry': () => run.effect('e', () => 1, { retry: wrong() }),
    'run.signal': () => run.signal('e', wrong()),
    'run.ask': () => run.ask('e', 1, wrong()),
    'run.approval': () => run.approval('e', 1, wrong()),
    'run.child': () => run.child('e', wrong()),
    'run.fork': () => run.fork(wrong({ at: 1 })),

    offer: () => store.queue('q').offer(1, wrong()),
    'offer with backoff': () => queue.offer(1, { backoff: wrong({ first: '1s' }) }),
    claim: () => queue.claim(wrong()),
    tryClaim: () => queue.tryClaim(wrong()),
    'claim.fail': () => claim.fail('e', wrong()),
    'claim.release': () => claim.release(wrong()),
    'queue.list': () => queue.list(wrong()),
    'queue.cancel': () => queue.cancel(claim.id, wrong()),
    'queue.redrive': () => queue.redrive(wrong()),
    'queue.work': () => queue.work(async () => {}, wrong()),

    input: () => session.input(1, wrong()),
    'inputs.list': () => session.inputs.list(wrong()),
    'inputs.prune': () => session.inputs.prune(wrong({ olderThan: 0 })),
    'inbox.list': () => session.inbox.list(wrong()),
    'inbox.prune': () => session.inbox.prune(wrong()),
    'run.inbox': () => run.inbox(wrong({ at: 'idle' })),
    'run.inputs': () => run.inputs(wrong()),
    'inbox.offer': () => session.inbox.offer(1, wrong({ delivery: 'afterTurn' })),

    'state.set': () => store.state.set('k', 1, wrong()),
    'state.write': () => store.state.write([wrong({ set: 'k', value: 1 })]),
    'state.write, a delete': () => store.state.write([wrong({ delete: 'k' })]),
    'state.get': () => store.state.get('k', wrong()),
    'state.delete': () => store.state.delete('k', wrong()),
    'state.list': () => drain(store.state.list('', wrong())),
    'session.state.set': () => session.state.set('k', 1, wrong()),
    'values.put': () => store.values.put(1, wrong()),
    'values.get': () => store.values.get(ref, '', wrong()),
    'values.slice': () => store.values.slice(ref, 0, 1, wrong()),
    'values.append': () => store.values.append(ref, [1], wrong()),
    'values.part': async () => store.values.part([], wrong()),
    collect: () => store.collect(wrong()),
    'snapshots.save': () => store.snapshots.save('s', wrong({ state: 1 })),
    'snapshots.list': () => store.snapshots.list(wrong()),
    'snapshots.resumeFrom': () => store.snapshots.resumeFrom('s', wrong()),

    'cron.set': () => store.cron.set('x', wrong({ every: '1h', queue: 'q' })),
    'cron.list': () => store.cron.list(wrong()),
    'cron.pause': () => store.cron.pause('j', wrong()),
    'cron.backfill': () => store.cron.backfill('j', wrong({ from: 0, to: 1 })),
    'cron.occurrences': () => store.cron.occurrences('j', wrong()),
    'cron.tick': () => store.cron.tick(wrong()),
    'cron.prune': () => store.cron.prune(wrong({ before: 0 })),

    'triggers.on': () => store.triggers.on('x', wrong({ source: 's', queue: 'q' })),
    'triggers.fire': () => store.triggers.fire('s', 1, wrong()),
    'triggers.list': () => store.triggers.list(wrong()),
    'triggers.history': () => store.triggers.history(wrong()),
    'triggers.disable': () => store.triggers.disable('t', wrong()),
    'triggers.enable': () => store.triggers.enable('t', wrong()),
    'triggers.delete': () => store.triggers.delete('t', wrong()),
    'triggers.prune': () => store.triggers.prune(wrong({ before: 0 })),

    'processes.register': () => store.processes.register('x', wrong({ kind: 'k', recovery: 'external' })),
    'processes.register with provenance': () =>
      store.processes.register('x', { kind: 'k', recovery: 'external', provenance: wrong({ by: 'b' }) }),
    'processes.register with a type of events': () =>
      store.processes.register('x', { kind: 'k', recovery: 'external', events: { 'a.b': wrong() } }),
    'processes.register with a wake-up': () =>
      store.processes.register('x', { kind: 'k', recovery: 'external', events: { 'a.b': { wake: wrong() } } }),
    'processes.register with an end': () =>
      store.processes.register('x', {
        kind: 'k',
        recovery: 'external',
        events: { 'a.b': { terminal: wrong({ state: 'completed' }) } },
      }),
    'processes.list': () => store.processes.list(wrong()),
    'processes.grants': () => store.processes.grants(wrong({ session: session.id })),
    'processes.grant': () => store.processes.grant('p', session.id, wrong()),
    'processes.prune': () => store.processes.prune(wrong({ before: 0 })),
    'processes.work': () => store.processes.work({}, wrong()),
    'process.start': () => process.start(wrong()),
    'process.claim': () => process.claim(wrong()),
    'process.event': () => process.event('a.b', 1, wrong()),
    'process.events': () => process.events(wrong()),
    'process.count': () => process.count(wrong()),
    'process.nextEvent': () => process.nextEvent(wrong()),
    'process.refer': () => process.refer(wrong({ backend: 'b', id: 'i' })),
    'process.complete': () => process.complete(1, wrong()),
    'process.fail': () => process.fail('e', wrong()),
    'process.cancelled': () => process.cancelled('r', wrong()),
    'process.abandoned': () => process.abandoned({ writer: 'sweep' }, wrong()),
    'process.abandoned with evidence': () => process.abandoned(wrong({ writer: 'sweep' })),
    'process.result': () => process.result(wrong()),

    'approvals.request': () => store.approvals.request(wrong({ subject: 'b' })),
    'approvals.list': () => store.approvals.list(wrong()),
    'approvals.decide': () => store.approvals.decide(approval.id, wrong({ decision: 'approve' })),
    'approvals.withdraw': () => store.approvals.withdraw(approval.id, wrong()),
    'approvals.permits.list': () => store.approvals.permits.list(wrong()),
    'approvals.seen': () => store.approvals.seen(approval.id, wrong({ by: 'b' })),
    'approvals.delivered': () => store.approvals.delivered(approval.id, wrong({ channel: 'c' })),
    'approvals.wait': () => store.approvals.wait(approval.id, wrong()),
    'approvals.export': () => drain(store.approvals.export(wrong())),
  }
}

test('an option that nobody knows is refused wherever options are taken, and nothing is written', async () => {
  const store = await openIn(':memory:')
  const before = Object.entries(await calls(store))
  const { seq } = await store.head()
  const told: Record<string, unknown> = {}
  for (const [name, call] of before) {
    try {
      await call()
      told[name] = 'taken'
    } catch (error) {
      const { code, details } = error as { readonly code?: string; readonly details?: { readonly option?: string } }
      told[name] = code === 'OPTION_INVALID' && details?.option === 'mispelt' ? 'refused' : error
    }
  }
  expect(told).toEqual(Object.fromEntries(before.map(([name]) => [name, 'refused'])))
  expect((await store.head()).seq).toBe(seq)
})

const fail = (): never => {
  throw new TypeError('of the caller')
}

/** Objects of a caller that throw when they are looked at. */
const hostile: Readonly<Record<string, (more?: object) => never>> = {
  'a getter that throws': (more = {}) =>
    Object.defineProperty({ ...more }, 'mispelt', { get: fail, enumerable: true, configurable: true }) as never,
  'a proxy that has no keys': (more = {}) => new Proxy({ ...more }, { ownKeys: fail }) as never,
  'a proxy that answers nothing': (more = {}) =>
    new Proxy({ ...more }, { get: fail, ownKeys: fail, getPrototypeOf: fail, has: fail }) as never,
  'a proxy that was revoked': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy as never
  },
}

test.each(Object.entries(hostile))('%s among options is a typed refusal, and nothing is written', async (_, make) => {
  const store = await openIn(':memory:')
  const tried = Object.entries(await calls(store, make))
  const { seq } = await store.head()
  const told: Record<string, string> = {}
  for (const [name, call] of tried) {
    const code = await codeOf((async () => call())())
    if (!/^[A-Z_]+_INVALID$/.test(code)) told[name] = code
  }
  expect(told).toEqual({})
  expect((await store.head()).seq).toBe(seq)
})

/** Options that many calls share, and those whose refusal quotes them. */
const VALUES = [
  'state',
  'branch',
  'risk',
  'profile',
  'progress',
  'kind',
  'name',
  'key',
  'session',
  'types',
  'cursor',
  'last',
  'queue',
  'at',
]

test('a value that becomes no text is refused with a code by every option that is not free, and nothing else is thrown', async () => {
  const store = await openIn(':memory:')
  const untyped: string[] = []
  for (const option of VALUES) {
    const value = { toString: fail, valueOf: fail, toJSON: fail, [Symbol.toPrimitive]: fail }
    const make = (more = {}) => ({ ...more, [option]: value }) as never
    for (const [name, call] of Object.entries(await calls(await store.tenant(option), make)))
      await (async () => call())().catch((error: unknown) => {
        if (!(error instanceof InkError)) untyped.push(`${name}, ${option}: ${error}`)
      })
  }
  expect(untyped).toEqual([])
})

const surface = readFileSync(new URL('../docs/reference/api-surface.txt', import.meta.url), 'utf8')

/** Every member of a public type that may be absent and is true or false, so that a new option is tried as well. */
const FLAGS = [...new Set([...surface.matchAll(/\b(\w+)\?: (?:[^;{}()]*\| )?(?:boolean|true|false)\b/g)].map(([, name]) => name as string))]

test.each(['false', null])('no option that is on or off is taken as %j by any call', async (value) => {
  expect(FLAGS).toEqual(expect.arrayContaining(['backwards', 'dryRun', 'final', 'live', 'redact', 'renew', 'schedule']))
  const store = await openIn(':memory:')
  const taken: string[] = []
  for (const option of FLAGS) {
    const make = (more = {}) => ({ ...more, [option]: value }) as never
    for (const [name, call] of Object.entries(await calls(store.tenant(option.toLowerCase()), make)))
      if ((await codeOf((async () => call())())) === 'no error') taken.push(`${name}, ${option}`)
  }
  // Settings of a session have names and values of the caller, and a process may be looked for by the session that it wakes.
  const free = /^session\.configure, (thinking|trace|verbose)$|^processes\.list, wake$/
  expect(taken.filter((one) => !free.test(one))).toEqual([])
})

test('a text, a key or an id that is none is refused', async () => {
  const store = await openIn(':memory:')
  const session = await store.session('s')
  const { id } = await store.approvals.request({ subject: 'a' })
  const { seq } = await session.append('a.b', 1)
  const refused: Readonly<Record<string, () => unknown>> = {
    'stream, parent': () => session.thread.stream('m', { parent: 7 } as never),
    'stream, trigger': () => session.thread.stream('m', { trigger: 7 } as never),
    'stream, execution': () => session.thread.stream('m', { execution: null } as never),
    'add, trigger': () => session.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }, { trigger: true } as never),
    'lease, owner': () => open({ url: ':memory:', lease: { owner: 7 } } as never),
    'list, name': () => store.runs.list({ name: 7 } as never),
    'decide, by': () => store.approvals.decide(id, { decision: 'approve', by: null } as never),
  }
  for (const [name, call] of Object.entries(refused)) expect(await codeOf((async () => call())()), name).toBe('OPTION_INVALID')
  // A fork without a key gets a new one each time.
  expect(await codeOf(session.fork({ at: seq, key: null } as never))).toBe('KEY_INVALID')
})

test('an option that is known elsewhere and means nothing here is refused', async () => {
  const store = await openIn(':memory:')
  const run = await (await store.session('s')).run('r')
  const process = await store.processes.register('p', { kind: 'k', recovery: 'external' })
  const { id } = await store.approvals.request({ subject: 'a' })
  const wake = (input: never) => ({ kind: 'k', recovery: 'external', events: { 'a.b': { wake: { input } } } }) as const
  const { seq } = await store.head()
  const calls: readonly (() => Promise<unknown>)[] = [
    () => store.page({ live: true } as never),
    () => process.count({ limit: 2 } as never),
    () => process.nextEvent({ last: 2 } as never),
    () => run.inbox({ kind: 'command', most: 2 } as never),
    () => store.approvals.decide(id, { decision: 'deny', scope: { for: '1h', mispelt: 1 } as never }),
    () => store.processes.register('x', wake({ pointer: '/a', template: 'b' } as never)),
    () => store.processes.register('x', wake({ template: 'b', fields: {}, mispelt: 1 } as never)),
  ]
  for (const call of calls) expect(await codeOf(call()), String(call)).toBe('OPTION_INVALID')
  expect((await store.head()).seq).toBe(seq)
})

test('the calls of every member of a store and of a session are tried above, unless none of them takes options', async () => {
  const store = await openIn(':memory:')
  const tried = Object.values(await calls(store))
    .map(String)
    .join('\n')
  const handles = { store, session: await store.session('s') }
  const members = Object.entries(handles).flatMap(([name, handle]) => Object.keys(handle).map((member) => `${name}.${member}`))
  const without = [
    'store.queues',
    'store.unhandled',
    'store.pin',
    'store.unpin',
    'store.artifacts',
    'session.created',
    'session.head',
    'session.checkpoint',
  ]
  expect(members.filter((member) => !tried.includes(`${member}.`) && !tried.includes(`${member}(`))).toEqual(without)
})

test('options beside the path of a store are refused, because they would be lost', async () => {
  const inJavaScript = open as (url: string, options: object) => Promise<Store>
  expect(await codeOf(inJavaScript(':memory:', { redact: { values: ['secret'] } }))).toBe('OPTION_INVALID')
})

test('a list refuses anything but an object as its options', async () => {
  const store = await openIn(':memory:')
  for (const list of [store.snapshots, store.collections, store.cron, store.triggers, store.processes, store.canvases, store.memory])
    expect(await codeOf(list.list(null as never))).toBe('OPTION_INVALID')
  expect(() => store.memory.quote(null as never)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
})

/** Puts members on the prototype of all objects while `work` runs, as a vulnerable library would. */
async function polluted(members: Readonly<Record<string, unknown>>, work: () => Promise<void>): Promise<void> {
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true, enumerable: false })
  try {
    await work()
  } finally {
    for (const name of Object.keys(members)) Reflect.deleteProperty(Object.prototype, name)
  }
}

test.each(engines)('a member of Object.prototype is no option on $name', async (engine) => {
  const secret = 'hunter2hunter2'
  const data = { password: secret }
  await polluted({ redact: false, whole: true, allow: ['password'], payloadBytes: 2, transient: true }, async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.append('a.b', data)
    await session.append('a.b', data, { key: 'mine' })
    await session.append('a.b', data, { key: 'other' })
    await store.appendAll([{ type: 'a.b', data }])
    await store.queue('q').offer(data)
    await store.queue('q').offer(data, { priority: 1 })
    await session.input(data)
    await session.rename(`password=${secret}`)
    const run = await session.run('r')
    expect(await run.effect('plain', () => data)).not.toEqual(data)
    expect(await run.effect('with options', () => data, { ifUnknown: 'ask' })).not.toEqual(data)
    const seen: string[] = []
    for await (const event of store.events())
      seen.push(`${event.type} ${Object.hasOwn(event, 'transient') && event.transient} ${JSON.stringify(event.data)}`)
    expect(seen.filter((line) => line.startsWith('a.b false {"password":"[redacted:key:'))).toHaveLength(4)
    expect(seen.join('\n')).not.toContain(secret)
  })
})
