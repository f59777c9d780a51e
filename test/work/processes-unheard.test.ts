// What is bound to its owner is begun once. Where nobody answered whether it was started, it is begun late; whoever took it up in another way is not
// taken for that.

import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Engine, makePlace } from '../runs/crashing-backend.ts'
import { expectSound, later } from '../support/engines.ts'

const ownerBound = { kind: 'tool', recovery: 'ownerBound' } as const
const TTL = 600

/** A store of which some commits are saved and not answered, and whose leases may go without a renewal. */
async function place(engine: Engine) {
  const { world, backend, open } = await makePlace(engine)
  const whole = await backend()
  const lost = { commits: '', renewals: false, count: 0 }
  const store = await open(
    {
      ...whole,
      commit: async (batch) => {
        const outcomes = await whole.commit(batch)
        if (lost.commits === '' || !batch.some(({ events }) => events.some(({ type }) => type === lost.commits))) return outcomes
        lost.count++
        throw new Error('the connection broke before the reply came')
      },
      leases: {
        read: (tenant, ids) => whole.leases.read(tenant, ids),
        renew: async (tenant, leases, ms) => {
          if (lost.renewals) throw new Error('the connection broke')
          return whole.leases.renew(tenant, leases, ms)
        },
      },
    },
    { lease: { ttl: TTL, renew: 100 } },
  )
  later(() => store.close())
  return { world, store, lost }
}

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test('a start that was saved, and that nobody answered, is followed all the same, once', async () => {
    const { world, store, lost } = await place(engine)
    const child = await world.processes.register('c', ownerBound)
    lost.commits = 'process.started'
    let runs = 0
    await using node = store.processes.work({ tool: () => ++runs })
    expect(await child.result()).toMatchObject({ state: 'completed', value: 1 })
    expect(lost.count).toBeGreaterThan(0)
    await expect.poll(() => node.stats()).toMatchObject({ completed: 1 })
    expect([runs, (await child.events()).items.length]).toEqual([1, 1])
    await expectSound(world)
  })

  test('a start that nobody answered is followed also where somebody held the process meanwhile and let it go', async () => {
    const { world, store, lost } = await place(engine)
    const child = await store.processes.register('c', ownerBound)
    lost.commits = 'lease.taken'
    let runs = 0
    await using node = store.processes.work({ tool: () => ++runs })
    // Once nobody waits for that answer any more.
    await expect.poll(() => node.stats().given).toBeGreaterThan(0)
    expect((await child.look()).state).toBe('running')
    lost.commits = ''
    await (await child.claim({ wait: '5s' })).release()
    expect(await child.result()).toMatchObject({ state: 'completed', value: 1 })
    await expectSound(world)
  })

  test('a process that was started by hand is run by nobody, whatever is lost of what follows', async () => {
    const { world, store, lost } = await place(engine)
    const child = await store.processes.register('c', ownerBound)
    await child.start()
    lost.commits = 'lease.taken'
    await expect(child.claim()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    lost.commits = ''
    let runs = 0
    await using node = store.processes.work({ tool: () => ++runs })
    await expect.poll(() => node.stats().given).toBeGreaterThan(0)
    await wait(2 * TTL)
    expect([runs, (await child.look()).state]).toEqual([0, 'running'])
    await expectSound(world)
  })

  test('a handler that lost its lease and asks for it again is not joined by a second one', async () => {
    const { world, store, lost } = await place(engine)
    const child = await store.processes.register('c', ownerBound)
    const go = Promise.withResolvers<void>()
    let runs = 0
    await using node = store.processes.work({
      tool: async (it) => {
        if (++runs > 1) return 'again'
        lost.renewals = true
        await new Promise((resolve) => it.signal.addEventListener('abort', resolve, { once: true }))
        await wait(100)
        lost.renewals = false
        lost.commits = 'lease.taken'
        await expect(child.claim()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
        lost.commits = ''
        await go.promise
        return 'first'
      },
    })
    await expect.poll(() => runs).toBe(1)
    await wait(4 * TTL)
    go.resolve()
    await expect.poll(() => node.stats().running).toBe(0)
    expect(runs).toBe(1)
    await expectSound(world)
  })
})
