// What becomes of processes whose node is gone: what may be run again is, what may not is left alone until it is known that nobody will end it,
// and time ends nothing.

import { describe, expect, test } from 'vitest'
import type { AgentProcess, RunningProcess, Store } from '../../src/index.ts'
import { type Engine, makePlace, mortal, never } from '../runs/crashing-backend.ts'
import { unfenced } from '../runs/unfenced.ts'
import { expectSound, later } from '../support/engines.ts'

const YEARS = 20 * 365 * 86_400_000
const rerunnable = { kind: 'tool', recovery: 'rerunnable' } as const
const ownerBound = { kind: 'tool', recovery: 'ownerBound' } as const
const external = { kind: 'tool', recovery: 'external' } as const

const stateOf = async (child: AgentProcess) => (await child.look()).state

async function place(engine: Engine) {
  const { world, backend, open, pass } = await makePlace(engine)
  return {
    world,
    pass,
    /** A node that dies when it is told to, and from then on says nothing. */
    doomed: async () => {
      const life = mortal(await backend())
      return { store: await open(life.backend), kill: () => life.kill() }
    },
    another: async (around: (store: Awaited<ReturnType<typeof backend>>) => typeof store = (same) => same): Promise<Store> => {
      const store = await open(around(await backend()))
      later(() => store.close())
      return store
    },
  }
}

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test('a rerunnable process is started again after its node died, and every start counts', async () => {
    const { world, pass, doomed, another } = await place(engine)
    const child = await world.processes.register('c', { ...rerunnable, attempts: 2 })
    const { store, kill } = await doomed()
    store.processes.work({ tool: () => never() })
    await expect.poll(() => stateOf(child)).toBe('running')
    const { started } = await child.look()
    kill()
    const next = await another()
    const attempts: number[] = []
    await using _ = next.processes.work({ tool: (it) => attempts.push(it.attempt) })
    await pass(31_000)
    expect((await child.result()).state).toBe('completed')
    expect(attempts).toEqual([2])
    expect((await child.look()).started).toEqual(started)
    await expectSound(world)
  })

  test('a process that kills whoever runs it fails once it was tried often enough, in one commit with its item', async () => {
    const { world, pass, doomed, another } = await place(engine)
    const child = await world.processes.register('c', { ...rerunnable, attempts: 2 })
    for (const attempt of [1, 2]) {
      const { store, kill } = await doomed()
      const seen: number[] = []
      store.processes.work({ tool: (it) => Promise.all([seen.push(it.attempt), never()]) })
      await expect.poll(() => seen).toEqual([attempt])
      kill()
      await pass(31_000)
    }
    const next = await another()
    await using _ = next.processes.work({ tool: () => 'not again' })
    expect(await child.result()).toMatchObject({ state: 'failed', error: { name: 'Poisoned' } })
    expect((await child.events()).items.map(({ type }) => type)).toEqual(['process.failed'])
    expect(await child.holder()).toBeUndefined()
    await expectSound(world)
  })

  test('an owner-bound process is never run twice, and no time that passes ends it', async () => {
    const { world, pass, doomed, another } = await place(engine)
    const child = await world.processes.register('c', ownerBound)
    const { store, kill } = await doomed()
    store.processes.work({ tool: () => never() })
    await expect.poll(() => stateOf(child)).toBe('running')
    kill()
    const next = await another()
    let runs = 0
    await using node = next.processes.work({ tool: () => runs++ })
    await pass(31_000)
    await expect.poll(() => node.stats().given).toBe(1)
    await pass(YEARS)
    await expect.poll(() => node.stats().given).toBe(2)
    expect([await stateOf(child), runs]).toEqual(['running', 0])
    // Asked for, it is abandoned, with who had it last.
    const { owner } = (await child.look()).started as { owner: string }
    await child.abandon('nobody will come back')
    expect(await child.result()).toMatchObject({ state: 'abandoned', evidence: { writer: 'reconciled', owner } })
    expect(runs).toBe(0)
    await expectSound(world)
  })

  test('a request to abandon is followed only when nobody holds it, of whatever recovery it is', async () => {
    const { world, pass, another } = await place(engine)
    const [holder, next] = [await another(), await another()]
    const children: AgentProcess[] = []
    for (const recovery of ['external', 'ownerBound', 'rerunnable'] as const) {
      const child = await holder.processes.register(recovery, { kind: recovery, recovery })
      await (await child.claim()).start()
      await child.abandon('enough')
      children.push(child)
    }
    let runs = 0
    await using node = next.processes.work({ ownerBound: () => runs++, rerunnable: () => runs++ })
    await expect.poll(() => node.stats().given).toBeGreaterThanOrEqual(5)
    expect(await Promise.all(children.map(stateOf))).toEqual(['running', 'running', 'running'])
    await holder.close()
    await pass(31_000)
    const seen = await Promise.all(['external', 'ownerBound', 'rerunnable'].map((name) => next.processes.get(name)))
    for (const child of seen) expect(await child?.result()).toMatchObject({ state: 'abandoned', evidence: { writer: 'reconciled' } })
    expect(runs).toBe(0)
    await expectSound(world)
  })

  test('an external process is never run here and never ended by time; only a request to abandon it is followed', async () => {
    const { world, pass, another } = await place(engine)
    const [left, asked] = [await world.processes.register('left', external), await world.processes.register('asked', external)]
    await left.start({ owner: 'elsewhere' })
    const next = await another()
    let runs = 0
    await using _ = next.processes.work({ tool: () => runs++ })
    await pass(YEARS)
    await asked.abandon('it never answered')
    expect(await asked.result()).toEqual({ state: 'abandoned', evidence: { writer: 'reconciled' } })
    expect([await stateOf(left), runs]).toEqual(['running', 0])
    await expectSound(world)
  })

  const overtaken = async (around?: typeof unfenced) => {
    const { world, pass, another } = await place(engine)
    const child = await world.processes.register('c', rerunnable)
    const go = Promise.withResolvers<void>()
    const stuck = await another(around)
    const node = stuck.processes.work({ tool: () => go.promise.then(() => 'by the first') })
    await expect.poll(() => stateOf(child)).toBe('running')
    await pass(31_000)
    const next = await (await another()).processes.get('c')
    const held = await next?.claim()
    go.resolve()
    return { world, child, node, held, pass }
  }

  test('a node that lost its lease writes no end', async () => {
    const { world, child, node, held } = await overtaken()
    await expect.poll(() => node.stats()).toMatchObject({ lost: 1, completed: 0 })
    expect(await stateOf(child)).toBe('running')
    await held?.complete('by the second')
    expect((await child.result()).value).toBe('by the second')
    await expectSound(world)
  })

  test('a node that lost its lease leaves the process where it is found once whoever took it is gone too', async () => {
    const { world, child, node, held, pass } = await overtaken()
    await expect.poll(() => node.stats()).toMatchObject({ lost: 1 })
    await held?.release()
    await pass(31_000)
    expect(await child.result()).toMatchObject({ state: 'completed', value: 'by the first' })
    await expectSound(world)
  })

  test('a node that lost its lease would write an end without the fence', async () => {
    const { child } = await overtaken(unfenced)
    expect((await child.result()).value).toBe('by the first')
  })

  test('two nodes share processes, and each is run once', async () => {
    const { world, another } = await place(engine)
    const [one, two] = [await another(), await another()]
    const ran: string[] = []
    const handlers = { tool: ({ name }: RunningProcess) => void ran.push(name) }
    await using a = one.processes.work(handlers)
    await using b = two.processes.work(handlers)
    const children = await Promise.all(
      Array.from({ length: 24 }, (_, i) => world.processes.register(`c${i}`, i % 2 ? rerunnable : ownerBound)),
    )
    for (const child of children) expect((await child.result()).state).toBe('completed')
    expect(ran.toSorted()).toEqual(children.map(({ name }) => name).sort())
    await expect.poll(() => a.stats().completed + b.stats().completed).toBe(24)
    await expectSound(world)
  })
})
