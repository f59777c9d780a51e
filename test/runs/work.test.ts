// Nodes: who takes up a run, when it is given back, and what happens when whoever had it dies.

import { describe, expect, test } from 'vitest'
import { open, type Run, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound, lentDatabase, moveTime, openIn, tempFile } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')
const place = async (name: string): Promise<string> => (name === 'postgres' ? lentDatabase() : tempFile())
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const stateOf = async (store: Store, id: string) => (await store.runs.get(id))?.state

describe.each(both)('on $name', (engine) => {
  test('a long wait gives the run back: nothing behind it runs, and it goes on when what it waits for has come', async () => {
    const store = await engine.open()
    const steps: string[] = []
    await using node = store.work({
      answer: async (run: Run) => {
        steps.push('begun')
        try {
          await run.effect('look', () => steps.push('looked'))
          const { text } = (await run.signal<{ text: string }>('customer.replied', { within: '3d' })) ?? { text: 'nothing' }
          await run.approval(`send ${text}`)
          return text
        } catch (error) {
          steps.push(`caught ${(error as Error).message}`)
          throw error
        } finally {
          steps.push('finally')
        }
      },
    })
    const handle = await store.start('answer', { session: 'support/4711' })
    await expect.poll(() => node.stats().parked).toBe(1)
    expect(await handle.state()).toBe('waiting')
    expect((await store.runs.list({ state: 'waiting' })).items).toMatchObject([{ id: handle.id, waits: [{ kind: 'signal' }] }])
    expect(node.stats().running).toBe(0)
    expect(steps).toEqual(['begun', 'looked'])
    await store.signal('support/4711', 'customer.replied', { text: 'yes' })
    await expect.poll(() => node.stats().parked).toBe(2)
    const [question] = (await store.approvals.list({ state: 'pending' })).items
    await store.approvals.decide(question?.id ?? '', { decision: 'approve', by: 'user/grace' })
    expect(await handle.result()).toBe('yes')
    expect(steps).toEqual(['begun', 'looked', 'begun', 'begun', 'finally'])
    await node.close()
    await expectSound(store)
  })

  test('a sleep ends by the time of the store, on whichever node', async () => {
    const url = await place(engine.name)
    let ahead = 0
    const clock = engine.name === 'postgres' ? {} : { clock: { now: () => Date.now() + ahead } }
    const [one, two] = [await openIn(url, clock), await openIn(url, clock)]
    const handler = async (run: Run) => {
      await run.sleep('2h')
      return 'slept'
    }
    const first = one.work({ nap: handler })
    const handle = await one.start('nap', { session: 's' })
    await expect.poll(() => first.stats().parked).toBe(1)
    await first.close()
    await using second = two.work({ nap: handler })
    await pause(100)
    expect(await handle.state()).toBe('waiting')
    if (engine.name === 'postgres') await moveTime(url, 7_200_000)
    else ahead = 7_200_000
    expect(await handle.result()).toBe('slept')
    await expect.poll(() => second.stats().finished).toBe(1)
    await second.close()
    await expectSound(two)
  })

  test('runs of one session come one after the other, parallel ones beside each other', async () => {
    const store = await engine.open()
    let [now, most] = [0, 0]
    await using node = store.work({
      step: async (run: Run) => {
        most = Math.max(most, ++now)
        await run.effect('work', () => pause(30))
        now--
      },
    })
    const start = (parallel: boolean) => store.start('step', { session: 's', parallel })
    await Promise.all((await Promise.all([1, 2, 3].map(() => start(false)))).map((handle) => handle.result()))
    expect(most).toBe(1)
    await Promise.all((await Promise.all([1, 2, 3].map(() => start(true)))).map((handle) => handle.result()))
    expect(most).toBeGreaterThan(1)
    await node.close()
    await expectSound(store)
  })

  test('a run that one node drops is continued by another, without repeating recorded effects', async () => {
    const url = await place(engine.name)
    const dying = await open({ url, lease: { ttl: 300, renew: 100 } })
    const calls: string[] = []
    const program = (stuck: boolean) => async (run: Run) => {
      await run.effect('charge', () => calls.push('charge'))
      if (stuck) await new Promise(() => {})
      return run.effect('mail', () => calls.push('mail'))
    }
    const first = dying.work({ pay: program(true) }, { drain: 0 })
    const handle = await dying.start('pay', { session: 's' })
    await expect.poll(() => calls).toEqual(['charge'])
    // It leaves in good order; killing is shown with real processes.
    await first.close()
    expect(await stateOf(dying, handle.id)).toBe('running')
    await dying.close()
    const store = await openIn(url)
    await using node = store.work({ pay: program(false) })
    expect(await (await store.runs.handle(handle.id)).result()).toBe(2)
    expect(calls).toEqual(['charge', 'mail'])
    await node.close()
    await expectSound(store)
  })

  test('a run that no longer fits its program waits for the right one, and goes on with it', async () => {
    const store = await engine.open()
    const first = store.work({
      answer: async (run: Run) => {
        await run.effect('find order', () => 1)
        await run.sleep('1d')
      },
    })
    const handle = await store.start('answer', { session: 's' })
    await expect.poll(() => first.stats().parked).toBe(1)
    await first.close()
    let called = false
    const wrong = store.work({ answer: (run: Run) => run.effect('find orders', () => (called = true)) })
    await store.runs.wake(handle.id)
    await expect.poll(() => wrong.stats().failed).toBe(1)
    await wrong.close()
    expect(called).toBe(false)
    const row = await store.runs.get(handle.id)
    expect(row).toMatchObject({ state: 'waiting', error: { code: 'REPLAY_DIVERGED' } })
    expect(row?.error?.message).toContain("- recorded: effect 'find order'")
    expect(row?.error?.message).toContain("+ asked for: effect 'find orders' #1")
    const asked: number[] = []
    await using right = store.work({
      answer: async (run: Run) => {
        asked.push(await run.effect('find order', () => 2))
        await run.sleep('1d')
      },
    })
    await store.runs.wake(handle.id)
    await expect.poll(() => right.stats().parked).toBe(1)
    expect(asked).toEqual([1])
    expect((await store.runs.get(handle.id))?.error).toBeUndefined()
    await right.close()
    await store.runs.cancel(handle.id, 'enough')
    expect(await codeOf(handle.result())).toBe('RUN_CANCELLED')
    await expectSound(store)
  })

  test('a race leaves what the others waited for, and a run that ends withdraws its questions', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const won = await run.race({ quick: (r) => r.effect('quick', () => 'quick'), person: (r) => r.ask('really?') })
    expect(won).toBe('quick')
    expect(run.state).toBe('running')
    expect((await store.approvals.list({ state: 'pending' })).items).toEqual([])
    const asking = run.ask('still there?')
    asking.catch(() => {})
    await expect.poll(async () => (await store.approvals.list({ state: 'pending' })).items.length).toBe(1)
    await store.runs.cancel(run.id, 'no longer needed')
    expect(await codeOf(asking)).toMatch(/RUN_CANCELLED|RUN_FINISHED/)
    expect((await store.approvals.list({ state: 'withdrawn' })).items.length).toBeGreaterThan(0)
    expect((await store.approvals.list({ state: 'pending' })).items).toEqual([])
    await expectSound(store)
  })

  test('several nodes share the work, and each run is done once', async () => {
    const url = await place(engine.name)
    const stores = await Promise.all([1, 2, 3, 4].map(() => openIn(url)))
    const done: string[] = []
    const nodes = stores.map((store) =>
      store.work({ step: (run: Run, input: string) => run.effect('do', () => void done.push(input)) }, { concurrency: 4 }),
    )
    const [one] = stores as [Store, ...Store[]]
    const inputs = Array.from({ length: 40 }, (_, i) => `${i}`)
    const handles = await Promise.all(inputs.map((input) => one.start('step', { session: `s${input}`, input })))
    await Promise.all(handles.map((handle) => handle.result()))
    expect(done.toSorted()).toEqual(inputs.toSorted())
    await expect.poll(() => nodes.reduce((sum, node) => sum + node.stats().finished, 0)).toBe(40)
    await Promise.all(nodes.map((node) => node.close()))
    await expectSound(one)
  })

  test('a store that closes gives its runs back, so that the next one need not wait', async () => {
    const url = await place(engine.name)
    const first = await open(url)
    const run = await (await first.session('s')).run('r')
    await run.effect('one', () => 1)
    await first.close()
    expect(await codeOf(run.effect('two', () => 2))).toBe('STORE_CLOSED')
    const store = await openIn(url)
    await using again = await (await store.session('s')).run('r')
    expect(await again.effect('one', () => 'anew')).toBe(1)
  })
})
