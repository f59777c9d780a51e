// The lines of the API about runs, as a program writes them, on both databases.

import { describe, expect, test } from 'vitest'
import { FinalError, type Run, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound, lentDatabase, moveTime, openIn, tempFile } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')

/** The same store, opened again as another process would. */
async function twice(name: string): Promise<readonly [Store, Store]> {
  const url = name === 'postgres' ? await lentDatabase() : tempFile()
  return [await openIn(url), await openIn(url)]
}

/** What the journal says an effect came to, once. */
async function settled(store: Store, name: string): Promise<number> {
  let count = 0
  for await (const event of store.events({ types: ['effect.settled'] })) if ((event.data as { name: string }).name === name) count++
  return count
}

describe.each(both)('on $name', (engine) => {
  test('a run goes on where it stopped: what is recorded is answered, what is not happens', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    const calls: string[] = []
    const program = async (run: Run, fail: boolean) => {
      const order = await run.effect('find order', () => {
        calls.push('find')
        return { id: 4711, total: 120 }
      })
      if (fail) throw new Error('pulled the plug')
      const sent = await run.effect('send', ({ key, attempt }) => {
        calls.push('send')
        return { key, attempt, to: order.id }
      })
      await run.finish({ reply: sent.to })
      return sent.key
    }
    {
      await using run = await session.run('answer', { input: { text: 'where is it?' } })
      expect(run).toMatchObject({ state: 'running', attempt: 1, input: { text: 'where is it?' }, name: 'answer' })
      await expect(program(run, true)).rejects.toThrow('pulled the plug')
    }
    await using again = await session.run('answer')
    expect(again).toMatchObject({ state: 'running', attempt: 2, input: { text: 'where is it?' } })
    expect(await program(again, false)).toMatch(/^[0-9a-f]{32}$/)
    expect(calls).toEqual(['find', 'send'])
    expect(again).toMatchObject({ state: 'done', result: { reply: 4711 } })
    const finished = await session.run('answer')
    expect(finished).toMatchObject({ state: 'done', result: { reply: 4711 }, fence: 0 })
    expect(await codeOf(finished.effect('more', () => 1))).toBe('RUN_FINISHED')
    await expectSound(store)
  })

  test('an effect returns what was recorded: masked JSON, or whole JSON on request; no result is undefined', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const secret = { password: 'hunter2-hunter2' }
    expect(JSON.stringify(await run.effect('masked', () => secret))).not.toContain('hunter2')
    expect(await run.effect('whole', () => secret, { redact: false })).toEqual(secret)
    expect(await run.effect('nothing', () => undefined)).toBeUndefined()
    expect(await run.effect('null', () => null)).toBeNull()
    const large = 'x'.repeat(100_000)
    expect(await run.effect('large', () => ({ large }))).toEqual({ large })
    await run.close()
    const again = await (await store.session('s')).run('r')
    const never = () => {
      throw new Error('called again')
    }
    expect(JSON.stringify(await again.effect('masked', never))).not.toContain('hunter2')
    expect(await again.effect('whole', never)).toEqual(secret)
    expect(await again.effect('nothing', never)).toBeUndefined()
    expect(await again.effect('null', never)).toBeNull()
    expect(await again.effect('large', never)).toEqual({ large })
    await again.finish({ large })
    expect((await (await store.session('s')).run('r')).result).toEqual({ large })
    await expectSound(store)
  })

  test('a failing effect is tried again, its attempts are counted across a crash, and its error is data', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const attempts: number[] = []
    const flaky = ({ attempt }: { attempt: number }) => {
      attempts.push(attempt)
      if (attempt < 3) throw Object.assign(new Error(`no luck ${attempt}`), { code: 'E_LUCK' })
      return 'luck'
    }
    const run = await session.run('r')
    expect(await run.effect('flaky', flaky, { retry: { attempts: 3, backoff: '1ms' } })).toBe('luck')
    expect(attempts).toEqual([1, 2, 3])
    const failing = run.effect(
      'final',
      () => {
        throw new FinalError('no such order')
      },
      { retry: { attempts: 5, backoff: 1 } },
    )
    await expect(failing).rejects.toMatchObject({ code: 'EFFECT_FAILED', details: { reason: 'no such order' } })
    await run.close()
    const again = await session.run('r')
    expect(await again.effect('flaky', () => 'not called')).toBe('luck')
    await expect(again.effect('final', () => 'not called')).rejects.toMatchObject({
      code: 'EFFECT_FAILED',
      details: { error: { name: 'FinalError', message: 'no such order' } },
    })
    await again.fail(new Error('gave up'))
    expect(again.state).toBe('failed')
    expect((await store.runs.get(again.id))?.error).toMatchObject({
      name: 'Error',
      message: 'gave up',
      stack: expect.stringContaining('promises.test'),
    })
    await expectSound(store)
  })

  test('streamed text of an effect is gathered into few entries, and replay does not read them', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const words = Array.from({ length: 2000 }, (_, i) => `word${i} `)
    const said = await run.effect('call model', ({ stream }) => {
      for (const word of words) stream(word)
      return words.length
    })
    expect(said).toBe(2000)
    const streamed: string[] = []
    for await (const event of store.events({ types: ['effect.streamed'] })) streamed.push((event.data as { text: string }).text)
    expect(streamed.join('')).toBe(words.join(''))
    expect(streamed.length).toBeLessThan(10)
    await run.close()
    const again = await session.run('r')
    expect(await again.effect('call model', () => 'anew')).toBe(2000)
    await again.finish()
    await expectSound(store)
  })

  test('an erased outcome is not taken for none: nothing is done again, and the run can be cancelled', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    await run.effect('charge', () => 'ch_1')
    const [{ seq } = { seq: 0 }] = (await store.page({ types: ['effect.settled'] })).items
    await run.close()
    await store.erase({ seq, reason: 'subject request 12' })
    const again = await session.run('r')
    let called = false
    expect(await codeOf(again.effect('charge', () => (called = true)))).toBe('REPLAY_DIVERGED')
    expect(called).toBe(false)
    await again.cancel('its outcome was erased')
    await session.delete({ reason: 'subject request 12' })
    await expectSound(store)
  })

  test('branches replay by their names, whatever the scheduling was; a race is decided once', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const inTime = <T>(ms: number, value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms))
    const program = async (run: Run, slow: number) => {
      const [a, b] = await run.all({
        a: (r) => r.effect('x', () => inTime(slow, 'a')),
        b: async (r) => `${await r.effect('x', () => inTime(30 - slow, 'b'))}${await r.effect('y', () => 'y')}`,
      })
      const first = await run.race({
        fast: (r) => r.effect('z', () => inTime(slow, 'fast')),
        slow: (r) => r.effect('z', () => inTime(30 - slow, 'slow')),
      })
      return { a, b, first, now: run.now(), random: run.random() }
    }
    const run = await session.run('r')
    const told = await program(run, 1)
    expect(told).toMatchObject({ a: 'a', b: 'by', first: 'fast' })
    await run.close()
    const again = await session.run('r')
    expect(await program(again, 29)).toEqual(told)
    await again.finish()
    await expectSound(store)
  })

  test('waits are stored: a sleep, a signal that came early, a question, an approval and its refusal', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    await store.signal('support/4711', 'customer.replied', { text: 'early' })
    await using run = await session.run('r')
    await run.sleep(20)
    await run.until(new Date(Date.now() - 1000))
    expect(await run.signal('customer.replied', { within: '3d' })).toEqual({ text: 'early' })
    expect(await run.signal('nobody', { within: 20 })).toBeUndefined()
    const answer = async (decision: 'approve' | 'deny', value?: unknown) => {
      await expect.poll(async () => (await store.approvals.list({ state: 'pending' })).items.length).toBe(1)
      const [item] = (await store.approvals.list({ state: 'pending' })).items
      const id = item?.id ?? ''
      await store.approvals.decide(id, { decision, by: 'user/grace', note: 'within policy', ...(value !== undefined && { value }) })
      expect(await codeOf(store.approvals.decide(id, { decision: 'deny' }))).toBe('APPROVAL_CLOSED')
      return item
    }
    const asked = answer('approve', { amount: 100 })
    expect(await run.ask('refund 120 EUR?', { amount: 120 }, { within: '2d' })).toEqual({ amount: 100 })
    expect(await asked).toMatchObject({ subject: 'refund 120 EUR?', data: { amount: 120 }, run: run.id })
    const approved = answer('approve')
    await run.approval('refund 120 EUR', { amount: 120 })
    await approved
    const denied = answer('deny')
    expect(await codeOf(run.approval('refund 9999 EUR', { amount: 9999 }))).toBe('APPROVAL_DENIED')
    await denied
    expect(await codeOf(run.approval('nobody answers', {}, { within: 20 }))).toBe('APPROVAL_DENIED')
    expect((await store.approvals.list({ state: 'expired' })).items).toHaveLength(1)
    await run.finish()
    await expectSound(store)
  })

  test('an effect that another node began is settled once, and an event of a run is written once', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const half = await run.begin<string>('call model')
    if (half.done) throw new Error('nothing was recorded yet')
    expect(await half.settle('hello')).toBe('hello')
    const receipt = await run.append('plan.changed', { steps: 3 })
    await run.usage({ model: 'm', source: 'turn', inputTokens: 812, outputTokens: 64, costUsd: 0.004 })
    await run.usage({ model: 'm', source: 'turn', inputTokens: 1 })
    await run.usage({ model: 'm', source: 'turn' })
    await run.close()
    const again = await session.run('r')
    expect(await again.begin('call model')).toEqual({ done: true, result: 'hello' })
    expect(await again.append('plan.changed', { steps: 3 })).toEqual(receipt)
    await again.usage({ model: 'm', source: 'turn', inputTokens: 812, outputTokens: 64, costUsd: 0.004 })
    await again.usage({ model: 'm', source: 'turn', inputTokens: 1 })
    expect(again.ledger).toMatchObject([{ model: 'm', source: 'turn', inputTokens: 813, outputTokens: 64, costNanoUsd: 4_000_000 }])
    expect(await codeOf(again.usage({ model: 'm', outputTokens: 1, reasoningTokens: 2 }))).toBe('USAGE_INVALID')
    const types: string[] = []
    for await (const event of again.tape()) types.push(event.type)
    expect(types.filter((type) => type === 'plan.changed')).toHaveLength(1)
    expect(await codeOf(again.usage({ model: 'm', source: 'turn', inputTokens: Number.MAX_SAFE_INTEGER }))).toBe('USAGE_INVALID')
    await again.cancel('no longer needed')
    expect(again.state).toBe('cancelled')
    await expectSound(store)
  })

  test('a run that is held is held: RUN_HELD elsewhere, the same fence here, the next one after it was given back', async () => {
    const [here, there] = await twice(engine.name)
    const mine = await (await here.session('s')).run('r')
    const theirs = await there.session('s')
    expect(await codeOf(theirs.run('r'))).toBe('RUN_HELD')
    const waiting = theirs.run('r', { wait: '5s' })
    const same = await (await here.session('s')).run('r')
    expect(same.fence).toBe(mine.fence)
    await same.close()
    await mine.close()
    const next = await waiting
    expect(next.fence).toBeGreaterThan(mine.fence)
    expect(await codeOf(mine.effect('late', () => 1))).toBe('RUN_CLOSED')
    await next.finish()
    await expectSound(here)
  })

  test('a node that lost its lease writes nothing, and its run is told', async () => {
    const url = engine.name === 'postgres' ? await lentDatabase() : tempFile()
    const first = await (await (await openIn(url)).session('s')).run('r')
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const late = first.effect('charge', async () => {
      begun.resolve()
      await ended.promise
      return 'late'
    })
    late.catch(() => {})
    await begun.promise
    const other = await openIn(url, engine.name === 'postgres' ? {} : { clock: { now: () => Date.now() + 60_000 } })
    const session = await other.session('s')
    // The control: while its time is not over, nobody takes it.
    if (engine.name === 'postgres') {
      expect(await codeOf(session.run('r'))).toBe('RUN_HELD')
      await moveTime(url, 60_000)
    }
    const second = await session.run('r')
    expect(second.fence).toBeGreaterThan(first.fence)
    expect(await second.effect('charge', () => 'in time')).toBe('in time')
    ended.resolve()
    expect(await codeOf(late)).toBe('FENCE_LOST')
    expect(first.aborted.aborted).toBe(true)
    expect(await codeOf(first.finish('late'))).toBe('FENCE_LOST')
    await second.finish('done')
    expect(await settled(other, 'charge')).toBe(1)
    await expectSound(other)
  })

  test('nodes take up what was started, once for each key, and children and parents find each other', async () => {
    const store = await engine.open()
    await using node = store.work(
      {
        answer: async (run: Run, input: { n: number }) => {
          const doubled = await run.child('double', { input: input.n })
          return { doubled: await doubled.result<number>() }
        },
        double: async (run: Run, n: number) => run.effect('double', () => n * 2),
        broken: async () => {
          throw new Error('cannot')
        },
      },
      { concurrency: 8 },
    )
    const handle = await store.start('answer', { session: 'support/4711', input: { n: 21 }, key: 'req-9' })
    const same = await store.start('answer', { session: 'support/4711', input: { n: 21 }, key: 'req-9' })
    expect(same.id).toBe(handle.id)
    expect(await codeOf(store.start('answer', { session: 'support/4711', input: { n: 22 }, key: 'req-9' }))).toBe('KEY_REUSED')
    expect(await handle.result()).toEqual({ doubled: 42 })
    expect(await codeOf((await store.start('broken', { session: 'b' })).result())).toBe('RUN_FAILED')
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.tenant(`t${i % 3}`).start('double', { session: `s${i}`, input: i })),
    )
    expect(await Promise.all(many.map((one) => one.result()))).toEqual(many.map((_, i) => i * 2))
    expect(await settled(store, 'double')).toBe(2)
    await node.close()
    await expectSound(store)
  })

  test('an effect that may have happened is settled by a person', async () => {
    const url = engine.name === 'postgres' ? await lentDatabase() : tempFile()
    const store = await openIn(url)
    const session = await store.session('s')
    const run = await session.run('r')
    void run.effect('charge', () => new Promise(() => {}), { ifUnknown: 'ask' }).catch(() => {})
    await expect.poll(async () => (await store.page({ types: ['effect.started'] })).items.length).toBe(1)
    await run.close()
    const again = await session.run('r')
    let called = false
    const charged = again.effect('charge', () => (called = true), { ifUnknown: 'ask' })
    await expect.poll(async () => (await store.runs.list({ state: 'waiting' })).items.length).toBe(1)
    expect(await codeOf(store.runs.resolve(run.id, 'mail', { result: 1 }))).toBe('EFFECT_UNKNOWN')
    await store.runs.resolve(run.id, 'charge', { result: { id: 'ch_1' } })
    expect(await charged).toEqual({ id: 'ch_1' })
    expect(called).toBe(false)
    await again.finish()
    await expectSound(store)
  })

  test('forks share what was recorded up to a seq, run the rest anew, and copy nothing', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    const run = await session.run('answer')
    await run.effect('one', () => 1)
    const { seq: at } = await store.head()
    await run.effect('two', () => 2)
    await run.finish('first')
    const before = (await store.head()).seq
    const again = await run.fork({ at })
    expect((await store.head()).seq - before).toBeLessThanOrEqual(3)
    expect(await again.effect('one', () => 'anew')).toBe(1)
    expect(await again.effect('two', () => 'anew')).toBe('anew')
    await again.finish('second')
    const copy = await session.fork({ at, key: 'support/4711-b' })
    expect(copy).toMatchObject({ branch: 'branch', relation: { kind: 'fork', session: session.id, at } })
    const other = await copy.run('answer')
    expect(await other.effect('one', () => 'anew')).toBe(1)
    expect(await other.effect('two', () => 'elsewhere')).toBe('elsewhere')
    await other.finish('third')
    const seqs: number[] = []
    for await (const event of store.events({ session: copy.id })) seqs.push(event.seq)
    expect(seqs.filter((seq) => seq <= at).length).toBeGreaterThan(3)
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    const back: number[] = []
    for await (const event of store.events({ session: copy.id, backwards: true })) back.push(event.seq)
    expect(back).toEqual(seqs.toReversed())
    await expectSound(store)
  })

  test('bad input is refused with the run and its state, and nothing is written', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const none = '01HF7YAT008B78NC00T411MSDF'
    expect(await codeOf(session.run(''))).toBe('RUN_NAME_INVALID')
    expect(await codeOf(run.effect('', () => 1))).toBe('RUN_NAME_INVALID')
    const other = await session.run('other')
    const { seq } = await store.head()
    expect(await codeOf(other.effect('big', () => 10n as never))).toBe('RESULT_INVALID')
    expect(await codeOf(other.effect('more', () => 1))).toBe('RESULT_INVALID')
    expect(await codeOf(run.effect('no work', undefined as never))).toBe('OPTION_INVALID')
    expect(await codeOf(run.sleep('soon' as never))).toBe('DURATION_INVALID')
    expect(await codeOf(run.until(new Date(Number.NaN)))).toBe('OPTION_INVALID')
    expect(await codeOf(run.all({}))).toBe('OPTION_INVALID')
    expect(await codeOf(run.append('run.finished', {}))).toBe('TYPE_RESERVED')
    expect(await codeOf(store.runs.cancel(none, 'why'))).toBe('RUN_UNKNOWN')
    expect(await codeOf(store.runs.resolve(run.id, 'r', { result: 1 }))).toBe('EFFECT_UNKNOWN')
    expect(await codeOf(store.approvals.decide(none, { decision: 'approve' }))).toBe('APPROVAL_UNKNOWN')
    expect(await codeOf(store.signal('nowhere', 'x', {}))).toBe('SESSION_UNKNOWN')
    expect(await codeOf(store.runs.list({ state: 'asleep' as never }))).toBe('RANGE_INVALID')
    expect(await codeOf((async () => store.work({}))())).toBe('OPTION_INVALID')
    expect(await codeOf((async () => store.work({ r: 1 as never }))())).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
    await session.archive()
    expect(await codeOf(run.effect('late', () => 1))).toBe('SESSION_ARCHIVED')
    expect(await codeOf(session.run('another'))).toBe('SESSION_ARCHIVED')
    await run.close()
    await other.close()
    await expectSound(store)
  })
})
