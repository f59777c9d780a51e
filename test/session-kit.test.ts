// Every call of a session, tried where sessions differ from an open one: archived, deleted, forked, and with the ids of another session. The
// calls are in support/session-kit/calls.ts, one line each; a new member of a session fails here until it has its line.

import { describe, expect, test } from 'vitest'
import type { AnyFeature } from '../src/kernel/feature.ts'
import { features } from '../src/kernel/features.ts'
import type { Backend } from '../src/ports/backend.ts'
import { shared } from './runs/in-memory.ts'
import { codeOf, expectSound, openIn } from './support/engines.ts'
import { rowsBy } from './support/row-reads.ts'
import { calls, runCalls } from './support/session-kit/calls.ts'
import { change, fill, knownIn } from './support/session-kit/fill.ts'
import { isHandle, methodsOf, tried } from './support/session-kit/look.ts'
import { engines } from './support/session-kit/stores.ts'
import {
  all,
  LAST,
  notRefused,
  outcomesOf,
  reads,
  saidBy,
  touchedSince,
  watched,
  withoutLast,
  writes,
} from './support/session-kit/watch.ts'

describe.each(engines)('a session on $name', ({ make }) => {
  test('an open session takes every call, and no read of it loses anything to a garbage collection', async () => {
    const store = await (await make())()
    const session = await store.session('s')
    const known = await fill(session, 'alpha')
    const told = await saidBy(session, known)
    for (const [name, { forked }] of reads) if (!forked) expect(told[name], `${name} tells nothing of it`).toMatch(/alpha|^true$/)
    await store.collect({ grace: 0 })
    expect(await saidBy(session, known)).toEqual(told)
    const outcomes = await outcomesOf(store, session, known, all)
    expect(Object.entries(outcomes).filter(([, { code }]) => code !== 'no error')).toEqual([])
    const idle = Object.keys(outcomes).filter((name) => calls[name]?.does === 'adds' && outcomes[name]?.wrote === 0)
    expect(idle).toEqual([])
    await expectSound(store)
  })

  test('an archived session answers every read as before and refuses every write, unless the write says why not', async () => {
    const open = await make()
    const [store, other] = [await open(), await open()]
    const session = await store.session('s')
    const known = await fill(session, 'alpha')
    const { toJSON: _, ...told } = await saidBy(session, known)
    await (await other.session('s')).archive()
    expect(await saidBy(session, known)).toMatchObject(told)
    const refused = withoutLast(writes).filter(([, { archived }]) => !archived)
    expect(await notRefused('SESSION_ARCHIVED', store, session, known, refused)).toEqual([])
    expect(await saidBy(session, known)).toMatchObject(told)
    const taken = withoutLast(writes).filter(([, { archived }]) => archived)
    for (const [name, { call }] of taken) expect((await tried(() => call(session, known))).code, name).toBe('no error')
    await session.reopen()
    expect(await codeOf(session.append('a.b', 1))).toBe('no error')
    await expectSound(store)
  })

  test.each(['this process', 'another process'])('a session that %s has deleted refuses every call, unless it says why not', async (by) => {
    const open = await make()
    const store = await open()
    const session = await store.session('s')
    const known = await fill(session, 'alpha')
    const other = by === 'this process' ? store : await open()
    await (await other.session('s')).delete({ reason: 'asked for' })
    const refused = all.filter(([, { deleted }]) => !deleted)
    expect(await notRefused('SESSION_DELETED', store, session, known, refused)).toEqual([])
    const taken = all.filter(([, { deleted }]) => deleted)
    for (const [name, { call }] of taken) {
      const { code, text } = await tried(() => call(session, known))
      expect(code, name).toBe('no error')
      if (name !== 'toJSON') expect(text, `${name} tells what was deleted`).not.toContain(known.mark)
    }
    // The key is free again, and the new session is empty and not deleted.
    const fresh = await outcomesOf(store, await store.session('s'), known, reads)
    expect(Object.entries(fresh).filter(([, { code, wrote }]) => code === 'SESSION_DELETED' || wrote > 0)).toEqual([])
    await expectSound(store)
  })

  test('a fork begins with what its source had at the fork point, and later calls of either change nothing of the other', async () => {
    const store = await (await make())()
    const source = await store.session('source')
    const known = await fill(source, 'alpha')
    const { seq: at } = await store.head()
    await change(source, known, 'alpha')
    const fork = await source.fork({ at })
    const forked = await knownIn(fork, known)
    const told = await saidBy(fork, forked)
    for (const [name, { forked: reason }] of reads) {
      if (reason) expect(told[name], name).not.toContain('alpha-')
      else expect(told[name], `${name} does not begin with what the source had`).toMatch(/alpha-first|alpha\.(?!late)|^true$/)
      expect(told[name], `${name} tells what came after the fork point`).not.toMatch(/alpha-second|alpha\.late/)
    }
    const [before, touched] = [await saidBy(source, known), await touchedSince(store, source)]
    // The ids that the fork did not get are those of another session.
    for (const ids of [known, forked]) for (const [, { call }] of withoutLast(writes)) await tried(() => call(fork, ids))
    expect(await touched()).toEqual([])
    expect(await saidBy(source, known)).toEqual(before)
    const [after, forkTouched] = [await saidBy(fork, forked), await touchedSince(store, fork)]
    for (const [, { call }] of writes) await tried(() => call(source, known))
    expect(await forkTouched()).toEqual([])
    expect(await saidBy(fork, forked)).toEqual(after)
    await store.collect({ grace: 0 })
    expect(await saidBy(fork, forked)).toEqual(after)
    await expectSound(store)
  })

  test('a session takes no id of another session: nothing is told, and nothing is written', async () => {
    const store = await (await make())()
    const [session, other] = [await store.session('s'), await store.session('other')]
    const known = await fill(session, 'alpha')
    await fill(other, 'beta')
    const [told, touched] = [await saidBy(session, known), await touchedSince(store, session)]
    let { seq } = await store.head()
    for (const [name, { does, call }] of withoutLast(all)) {
      const used = new Set<string>()
      const { text } = await tried(() => call(other, watched(known, used)))
      expect(text, `${name} tells what the other session holds`).not.toContain('alpha-')
      const { seq: now } = await store.head()
      if (does === 'reads' || (does === 'changes' && used.size > 0)) expect(now - seq, `${name} has written`).toBe(0)
      seq = now
    }
    expect(await touched()).toEqual([])
    expect(await saidBy(session, known)).toEqual(told)
    await expectSound(store)
  })
})

describe.each(engines)('a run on $name', ({ make }) => {
  test.each([
    ['archived', ['SESSION_ARCHIVED']],
    // Whichever the run hears of first.
    ['deleted', ['SESSION_DELETED', 'RUN_CANCELLED']],
  ])('a run takes no step once another process has %s its session', async (state, expected) => {
    const open = await make()
    const [store, other] = [await open(), await open()]
    const session = await store.session('s')
    const known = await fill(session, 'alpha')
    await using run = await session.run('kit', { key: 'another', parallel: true })
    const there = await other.session('s')
    await (state === 'archived' ? there.archive() : there.delete({ reason: 'asked for' }))
    const { seq } = await store.head()
    const codes: Record<string, string> = {}
    for (const [name, call] of Object.entries(runCalls)) codes[name] = (await tried(() => call(run, known))).code
    expect(Object.entries(codes).filter(([, code]) => !expected.includes(code))).toEqual([])
    expect((await store.head()).seq).toBe(seq)
    await expectSound(store)
  })

  test('a run takes no id of another session', async () => {
    const store = await (await make())()
    const [session, other] = [await store.session('s'), await store.session('other')]
    const known = await fill(session, 'alpha')
    const [told, touched] = [await saidBy(session, known), await touchedSince(store, session)]
    await using run = await other.run('kit')
    for (const [name, call] of Object.entries(runCalls)) {
      const { text } = await tried(() => call(run, known))
      expect(text, `${name} tells what the other session holds`).not.toContain('alpha-')
    }
    expect(await touched()).toEqual([])
    expect(await saidBy(session, known)).toEqual(told)
    await expectSound(store)
  })
})

test('every member that a feature adds to a run has a line in support/session-kit/calls.ts', () => {
  const members = features.flatMap((feature) => Object.keys((feature as AnyFeature).run ?? {}))
  expect(Object.keys(runCalls).toSorted()).toEqual(members.toSorted())
})

/** Calls whose argument is no id, and which would end what the others need. */
const NO_ID = [...LAST, 'toJSON', 'run', 'lease', 'thread.archive', 'thread.delete']

test('a method of a session that is given any id of another session tells and writes nothing of it', async () => {
  const store = await openIn(':memory:')
  const [session, other] = [await store.session('s'), await store.session('other')]
  const known = await fill(session, 'alpha')
  for (const [, { does, call }] of all) if (does === 'adds') await call(session, known)
  await fill(other, 'beta')
  const { mark: _, ...named } = known
  const ids = new Set<string>(Object.values(named))
  for await (const { session: of, subject } of store.events()) if (of === session.id && subject !== undefined) ids.add(subject)
  const [told, touched] = [await saidBy(session, known), await touchedSince(store, session)]
  const methods = methodsOf(other).filter((name) => !NO_ID.includes(name))
  for (const name of methods)
    for (const id of ids) {
      const path = name.split('.')
      const method = path.pop() as string
      const of = path.reduce<object>((handle, member) => Reflect.get(handle, member), other)
      const { text } = await tried(() => Reflect.get(of, method).call(of, id))
      expect(text.replaceAll(id, ''), `${name}(${id})`).not.toContain('alpha-')
    }
  expect(await touched()).toEqual([])
  expect(await saidBy(session, known)).toEqual(told)
})

test('every method of a session, and of a handle that its calls return, has a line in support/session-kit/calls.ts', async () => {
  const store = await openIn(':memory:')
  const session = await store.session('s')
  const known = await fill(session, 'alpha')
  const methods = [...methodsOf(session)]
  const listed = [session, session.thread].map(Object.getPrototypeOf)
  for (const [name, { call }] of all) {
    const answer = await call(session, known)
    if (isHandle(answer) && !listed.includes(Object.getPrototypeOf(answer))) methods.push(...methodsOf(answer, `${name}().`))
  }
  expect(methods).toEqual(expect.arrayContaining(['append', 'thread.add', 'canvas().patch', 'state.entry().get']))
  const named = new Set(all.map(([name]) => name.split(',')[0]))
  const lacking = methods.filter((method) => !named.has(method))
  expect(lacking.map((method) => `add a line '${method}' to test/support/session-kit/calls.ts`)).toEqual([])
  const gone = [...named].filter((name) => !methods.includes(name as string))
  expect(gone.map((name) => `no session has a method '${name}'`)).toEqual([])
})

test('the kit reports a call that was not refused, what it wrote, and a write to another session', async () => {
  const store = await openIn(':memory:')
  const session = await store.session('s')
  const known = await fill(session, 'alpha')
  const touched = await touchedSince(store, session)
  const careless = writes.filter(([name]) => name === 'state.delete')
  expect(await notRefused('SESSION_DELETED', store, session, known, careless)).toEqual([
    'state.delete: no error',
    'somebody wrote state.deleted',
  ])
  expect(await touched()).toEqual([expect.stringContaining('state.deleted about')])
})

test('a read that finds something does not look at its session', async () => {
  let looked: string[] = []
  const counting = (backend: Backend): Backend => ({
    ...backend,
    rows: rowsBy(backend.rows, (tenant, table, id) => {
      if (table === 'sessions') looked.push(id)
      return backend.rows.get(tenant, table, id)
    }),
  })
  const store = await shared()({}, counting)
  const session = await store.session('s')
  const known = await fill(session, 'alpha')
  looked = []
  // The head shows the title, which is the session's own.
  await saidBy(
    session,
    known,
    reads.filter(([name]) => name !== 'head'),
  )
  expect(looked).toEqual([])
  await session.state.get('nothing')
  expect(looked).toEqual([session.id])
})
