// What happens at the same time as something else: two who open, a branch that ends while another waits, a session that goes while a run sleeps.

import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { open, type Run } from '../../src/index.ts'
import { limits } from '../../src/model/limits.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound, later, lentDatabase, openIn, tempFile } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')
const place = async (name: string): Promise<string> => (name === 'postgres' ? lentDatabase() : tempFile())
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe.each(both)('on $name', (engine) => {
  test('two stores open a run at once: one gets it, and in one process all share one fence', async () => {
    const url = await place(engine.name)
    const [one, two] = [await openIn(url), await openIn(url)]
    for (let i = 0; i < 15; i++) {
      const sessions = [await one.session(`s${i}`), await two.session(`s${i}`)]
      let calls = 0
      const took = await Promise.all(
        sessions.map(async (session) => {
          try {
            const run = await session.run('pay')
            await run.effect('charge', () => ++calls)
            return 'ok'
          } catch (error) {
            return (error as { code: string }).code
          }
        }),
      )
      expect(took.toSorted()).toEqual(['RUN_HELD', 'ok'])
      expect(calls).toBe(1)
    }
    const session = await one.session('shared')
    const runs = await Promise.all(['a', 'b', 'c'].map((name) => session.run(name)))
    expect(new Set(runs.map((run) => run.fence)).size).toBe(1)
    for (const run of runs) await run.effect('e', () => 1)
    for (const run of runs) await run.finish()
    await expectSound(one)
  })

  test('a run is not given back between an effect and its record, however large that is', async () => {
    const store = await engine.open()
    const session = await store.session('traffic')
    let calls = 0
    await using node = store.work({
      both: (run: Run) =>
        run.all({
          waits: (r) => r.signal('go'),
          works: async (r) => {
            const large = await r.effect('large', async () => {
              await pause(5)
              calls++
              return 'x'.repeat(60_000)
            })
            return large.length
          },
        }),
    })
    const handles = await Promise.all(Array.from({ length: 6 }, (_, i) => store.start('both', { session: `s${i}` })))
    for (let i = 0; i < 60; i++) await session.append('note.made', { i })
    await expect.poll(() => node.stats().parked).toBeGreaterThanOrEqual(6)
    for (let i = 0; i < 6; i++) await store.signal(`s${i}`, 'go', i)
    expect(await Promise.all(handles.map((handle) => handle.result()))).toHaveLength(6)
    expect(calls).toBe(6)
    await node.close()
    await expectSound(store)
  })

  test('a run is not given back while a branch works at something that is no effect', async () => {
    const store = await engine.open()
    await using node = store.work({
      both: (run: Run) =>
        run.all({
          waits: (r) => r.signal('go'),
          works: async (r) => {
            await pause(150)
            return r.effect('pay', () => 'paid')
          },
        }),
    })
    const handle = await store.start('both', { session: 's' })
    await expect.poll(async () => (await store.page({ types: ['effect.settled'] })).items.length).toBe(1)
    await store.signal('s', 'go', 1)
    expect(await handle.result()).toEqual([1, 'paid'])
    await node.close()
  })

  test('two waits for one signal: the first gets it, the second waits for the next', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const got = run.all({ a: (r) => r.signal('go'), b: (r) => r.signal('go') })
    await expect.poll(async () => (await store.runs.get(run.id))?.waits.length).toBe(2)
    await store.signal('s', 'go', 1)
    await store.signal('s', 'go', 2)
    expect([...(await got)].toSorted()).toEqual([1, 2])
    await run.finish()
    await expectSound(store)
  })

  test('a decider and a run get the same outcome, also at the last moment', async () => {
    const store = await engine.open()
    for (let i = 0; i < 12; i++) {
      const run = await (await store.session(`s${i}`)).run('r')
      const asked = codeOf(run.approval('now or never', {}, { within: 40 }))
      // On a busy machine the approval may expire before anybody sees it, so it is looked for in every state.
      const approvalOf = async () => (await store.approvals.list()).items.find((approval) => approval.run === run.id)
      await expect.poll(approvalOf, { interval: 1 }).toBeDefined()
      await pause(20 + (i % 6) * 4)
      const told = await codeOf(store.approvals.decide((await approvalOf())?.id ?? '', { decision: 'approve' }))
      expect(await asked).toBe(told === 'no error' ? 'no error' : 'APPROVAL_DENIED')
      await run.finish()
    }
    await expectSound(store)
  })

  test('an effect that was begun has one outcome, and the first one counts', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const half = await run.begin('pay')
    if (half.done) throw new Error('nothing was recorded yet')
    expect(await half.settle('paid')).toBe('paid')
    expect(await codeOf(half.fail(new Error('no')))).toBe('EFFECT_SETTLED')
    await run.close()
    expect(await (await session.run('r')).begin('pay')).toEqual({ done: true, result: 'paid' })
  })

  test('an effect underway when its session is archived is recorded, and nothing new begins', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const gate = Promise.withResolvers<void>()
    let calls = 0
    const charged = run.effect('charge', () => gate.promise.then(() => ++calls))
    await pause(20)
    await session.archive()
    gate.resolve()
    expect(await charged).toBe(1)
    expect(await codeOf(run.effect('more', () => ++calls))).toBe('SESSION_ARCHIVED')
    await run.close()
    await session.reopen()
    const again = await session.run('r')
    expect(await again.effect('charge', () => ++calls)).toBe(1)
    expect(calls).toBe(1)
    await again.finish()
    await expectSound(store)
  })

  test('a session that is deleted ends its runs: sleeping ones, waiting ones, and those that want to finish', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const sleeping = await session.run('sleeps')
    const slept = codeOf(sleeping.sleep('1h'))
    const asking = await session.run('asks')
    const asked = codeOf(asking.ask('really?'))
    const finishing = await session.run('finishes')
    await expect.poll(async () => (await store.runs.list({ state: 'waiting' })).items.length).toBe(2)
    await session.delete({ reason: 'subject request 12' })
    expect(await slept).toMatch(/RUN_CANCELLED|RUN_FINISHED/)
    expect(await asked).toMatch(/RUN_CANCELLED|RUN_FINISHED/)
    expect(await codeOf(finishing.finish({ name: 'Ada Lovelace' }))).toMatch(/RUN_CANCELLED|RUN_FINISHED/)
    expect((await store.approvals.list({ state: 'pending' })).items).toEqual([])
    for await (const event of store.events()) expect(JSON.stringify(event.data ?? null)).not.toContain('Ada')
    await expectSound(store)
  })

  test('a wait of which something was erased says so, and does not go round in circles', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const waiting = codeOf(run.signal('go'))
    await expect.poll(async () => (await store.page({ types: ['wait.began'] })).items.length).toBe(1)
    const [{ seq } = { seq: 0 }] = (await store.page({ types: ['wait.began'] })).items
    await store.erase({ seq, reason: 'subject request 12' })
    await store.signal('s', 'go', 1)
    expect(await waiting).toBe('REPLAY_DIVERGED')
    await run.cancel('erased')
    await expectSound(store)
  })

  test('a secret that is streamed piece by piece is masked', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const secret = `sk-ant-api03-${'Ab1'.repeat(31)}AA`
    await run.effect('call model', async ({ stream }) => {
      for (const word of `the key is ${secret} and that is all `.repeat(40).match(/.{1,7}/gs) ?? []) stream(word)
      await pause(300)
      for (const word of `once more ${secret}`.match(/.{1,5}/gs) ?? []) stream(word)
    })
    let streamed = ''
    for await (const event of store.events({ types: ['effect.streamed'] })) streamed += (event.data as { text: string }).text
    expect(streamed).toContain('the key is ')
    expect(streamed).not.toContain('sk-ant-api03-Ab1')
  })

  test('a race that was won by a branch that is no longer there has diverged', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    await run.race({ quick: (r) => r.effect('x', () => 1), slow: (r) => r.sleep('1h') })
    await run.close()
    const again = await session.run('r')
    expect(await codeOf(again.race({ fast: (r) => r.effect('x', () => 1), slow: (r) => r.sleep('1h') }))).toBe('REPLAY_DIVERGED')
  })

  test('a fork of a fork finds what was recorded before either, and the input', async () => {
    const store = await engine.open()
    const first = await store.session('a')
    const run = await first.run('r', { input: { n: 1 } })
    await run.effect('charge', () => 'ch_1')
    const { seq: at } = await store.head()
    await run.finish()
    const second = await first.fork({ at, key: 'b' })
    const third = await second.fork({ at: (await store.head()).seq, key: 'c' })
    const again = await third.run('r')
    expect(again.input).toEqual({ n: 1 })
    expect(await again.effect('charge', () => 'charged again')).toBe('ch_1')
    await again.finish()
  })

  test('a segment holds no more than its limit, however many record at once', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const many = limits.tapeSegment * 2 + 100
    await Promise.all(Array.from({ length: many }, (_, i) => run.effect(`e${i}`, () => i)))
    let [inSegment, most, seals] = [0, 0, 0]
    for await (const { type } of run.tape()) {
      if (type === 'effect.settled') most = Math.max(most, ++inSegment)
      if (type === 'tape.sealed') [inSegment, seals] = [0, seals + 1]
    }
    expect(most).toBe(limits.tapeSegment)
    expect(seals).toBe(2)
    await run.finish()
  })
})

test('a store that fails for a moment fails no run for good', async () => {
  const url = tempFile()
  const real = await sqliteBackend({ path: url })
  let failing = 0
  const backend: Backend = {
    ...real,
    commit: async (batch) => {
      if (!batch.some(({ events }) => events.some(({ type }) => type === 'effect.settled')) || failing++ > 0) return real.commit(batch)
      return batch.map(() => ({ ok: false, refused: 'failed', found: 'the disk hiccupped', now: Date.now() }))
    },
  }
  const store = await open({ backend })
  later(() => store.close())
  await using node = store.work({ pay: (run: Run) => run.effect('charge', () => 'ch_1') })
  expect(await (await store.start('pay', { session: 's' })).result()).toBe('ch_1')
  await node.close()
  await expectSound(store)
})

test('a run whose input is gone waits for somebody to mend that, and its session is free', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const handle = await store.start('pay', { session: 's', input: { large: 'x'.repeat(100_000) } })
  rmSync(`${path}.blobs`, { recursive: true })
  await using node = store.work({ pay: () => 1 })
  await expect.poll(() => node.stats().failed).toBe(1)
  expect(await store.runs.get(handle.id)).toMatchObject({ state: 'waiting', error: { code: 'BLOB_UNKNOWN' } })
  expect((await (await store.session('s')).run('other')).state).toBe('running')
  await node.close()
})

test('a run whose input is gone cannot be opened, and blocks nobody', async () => {
  const path = tempFile()
  const store = await openIn(path)
  const session = await store.session('s')
  const run = await session.run('r', { input: { large: 'x'.repeat(100_000) } })
  await run.close()
  rmSync(`${path}.blobs`, { recursive: true })
  for (let i = 0; i < 2; i++) expect(await codeOf(session.run('r'))).toBe('BLOB_UNKNOWN')
  const other = await openIn(path)
  await store.close()
  expect((await (await other.session('s')).run('other', { wait: '5s' })).state).toBe('running')
})

test('an effect that throws an object without a prototype fails like any other, and wrong options are refused', async () => {
  const run = await (await (await openIn(':memory:')).session('s')).run('r')
  const bare = run.effect('bare', () => {
    throw Object.create(null)
  })
  expect(await codeOf(bare)).toBe('EFFECT_FAILED')
  expect(await codeOf(run.effect('e', () => 1, null as never))).toBe('OPTION_INVALID')
  expect(await codeOf(run.effect('f', () => 1, { retry: 5 as never }))).toBe('OPTION_INVALID')
  expect(await codeOf(run.signal('s', null as never))).toBe('OPTION_INVALID')
})
