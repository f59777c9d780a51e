// A node runs processes: what comes back completes them, what is thrown fails them, and whoever is asked to stop is told.

import { describe, expect, test } from 'vitest'
import { type AgentProcess, FinalError, type RunningProcess } from '../../src/index.ts'
import { never } from '../runs/crashing-backend.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const rerunnable = { kind: 'tool', recovery: 'rerunnable' } as const
const ownerBound = { kind: 'tool', recovery: 'ownerBound' } as const
const external = { kind: 'tool', recovery: 'external' } as const

const stateOf = async (child: AgentProcess) => (await child.look()).state

describe.each(engines.filter(({ name }) => name !== 'sqlite folder'))('a node on $name', (engine) => {
  test('a node runs what it has a handler for: what comes back completes it, what is thrown fails it', async () => {
    const store = await engine.open()
    const good = await store.processes.register('good', { ...rerunnable, input: { n: 20 } })
    const bad = await store.processes.register('bad', { ...ownerBound, kind: 'bad' })
    const other = await store.processes.register('other', { ...rerunnable, kind: 'somebody else’s' })
    const outside = await store.processes.register('outside', external)
    await using node = store.processes.work({
      tool: async (child, input) => {
        await child.event('half.done', { attempt: child.attempt, fence: child.fence > 0 })
        return (input as { n: number }).n * 2
      },
      bad: () => {
        throw new TypeError('no')
      },
    })
    expect(await good.result()).toEqual({ state: 'completed', value: 40 })
    expect(await bad.result()).toMatchObject({ state: 'failed', error: { name: 'TypeError', message: 'no' } })
    expect((await good.events()).items.map(({ type, data }) => [type, data])).toEqual([
      ['half.done', { attempt: 1, fence: true }],
      ['process.completed', { value: 40 }],
    ])
    expect(await good.look()).toMatchObject({ started: { owner: expect.any(String) } })
    expect([await stateOf(other), await stateOf(outside)]).toEqual(['pending', 'pending'])
    await expect.poll(() => node.stats()).toMatchObject({ running: 0, completed: 1, failed: 1 })
    await node.close()
    expect((await store.queues()).map(({ queue }) => queue)).toEqual(['processes/somebody else’s'])
    await expectSound(store)
  })

  test('a handler may end its process itself, and is not asked again', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', rerunnable)
    await using node = store.processes.work({
      tool: async (it) => {
        await it.complete('by itself', { control: { stop: true } })
        return 'by the node'
      },
    })
    expect(await child.result()).toEqual({ state: 'completed', value: 'by itself', control: { stop: true } })
    await expect.poll(() => node.stats()).toMatchObject({ running: 0, completed: 1 })
    await expectSound(store)
  })

  test('a rerunnable process is retried up to its attempts; a final error ends it at once', async () => {
    const store = await engine.open()
    const twice = await store.processes.register('twice', { ...rerunnable, attempts: 2 })
    const final = await store.processes.register('final', { ...rerunnable, kind: 'final' })
    const attempts: number[] = []
    await using node = store.processes.work({
      tool: (child) => {
        attempts.push(child.attempt)
        throw new Error(`attempt ${child.attempt}`)
      },
      final: () => {
        throw new FinalError('never')
      },
    })
    expect(await final.result()).toMatchObject({ state: 'failed', error: { message: 'never' } })
    expect(await twice.result()).toMatchObject({ state: 'failed', error: { message: 'attempt 2' } })
    expect(attempts).toEqual([1, 2])
    await expect.poll(() => node.stats()).toMatchObject({ failed: 2, retried: 1 })
    await expectSound(store)
  })

  test('the handler of a process hears of a cancel request, and one that has not begun does not begin', async () => {
    const store = await engine.open()
    const child = await store.processes.register('c', rerunnable)
    const begun = Promise.withResolvers<void>()
    const reasons: unknown[] = []
    const handler = async ({ signal, name }: RunningProcess) => {
      begun.resolve()
      if (name === 'late') throw new Error('it was begun')
      await new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
      reasons.push((signal.reason as { code: string }).code)
      throw signal.reason
    }
    {
      await using _ = store.processes.work({ tool: handler })
      await begun.promise
      await child.cancel('not needed')
      expect(await child.result()).toEqual({ state: 'cancelled', reason: 'not needed' })
      expect(reasons).toEqual(['PROCESS_CANCEL_REQUESTED'])
    }
    const late = await store.processes.register('late', rerunnable)
    await late.cancel('too late')
    await using node = store.processes.work({ tool: handler })
    expect(await late.result()).toEqual({ state: 'cancelled', reason: 'too late' })
    expect((await late.look()).started).toBeUndefined()
    await expect.poll(() => node.stats().cancelled).toBe(1)
    await expectSound(store)
  })

  test('a node that leaves gives back what others may run, and abandons what nobody may', async () => {
    const store = await engine.open()
    const [a, b] = [await store.processes.register('a', rerunnable), await store.processes.register('b', ownerBound)]
    const signals: AbortSignal[] = []
    {
      await using _ = store.processes.work({ tool: ({ signal }) => Promise.all([signals.push(signal), never()]) }, { drain: 0 })
      await expect.poll(() => signals.length).toBe(2)
    }
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
    expect(await b.result()).toMatchObject({ state: 'abandoned', evidence: { writer: 'ownerDrain', owner: expect.any(String) } })
    expect((await b.result()).evidence?.fence).toBeGreaterThan(0)
    expect(await stateOf(a)).toBe('running')
    const attempts: number[] = []
    await using _ = store.processes.work({ tool: ({ attempt }) => void attempts.push(attempt) })
    expect((await a.result()).state).toBe('completed')
    // Leaving is nobody's failure.
    expect(attempts).toEqual([1])
    await expectSound(store)
  })

  test('a node of all tenants runs those of all of them, and one behind a wall its own alone', async () => {
    const store = await engine.open()
    const acme = store.tenant('acme')
    const child = await acme.processes.register('c', rerunnable)
    expect(await codeOf((async () => acme.processes.work({}, { tenants: 'all' }))())).toBe('TENANT_WALL')
    expect(await store.processes.get('c')).toBeUndefined()
    await using _ = store.processes.work({ tool: () => 'done' }, { tenants: 'all' })
    expect((await child.result()).value).toBe('done')
    await expectSound(store)
  })
})
