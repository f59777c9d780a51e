// Two callers of one process want one lease at the same time. Each gets it, shares it or is refused; none loses it to the other.

import { describe, expect, test } from 'vitest'
import type { Run, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { expectSound, later } from '../support/engines.ts'
import { rowsBy } from '../support/row-reads.ts'
import { placeOn } from './crashing-backend.ts'

interface Slow {
  readonly backend: Backend
  /** Keeps back the answer to the next commit that has such an event. */
  keepBack(type: string): { readonly saved: Promise<void>; answer(): void }
  /** Resolves once a lease is read. */
  looked(): Promise<void>
}

function slow(backend: Backend): Slow {
  let awaited: { readonly type: string; readonly saved: () => void; readonly answer: Promise<void> } | undefined
  let look = () => {}
  return {
    backend: {
      ...backend,
      commit: async (batch) => {
        const outcomes = await backend.commit(batch)
        const kept = awaited
        if (kept && batch.some(({ events }) => events.some(({ type }) => type === kept.type))) {
          awaited = undefined
          kept.saved()
          await kept.answer
        }
        return outcomes
      },
      rows: rowsBy(backend.rows, async (tenant, table, id) => {
        const row = await backend.rows.get(tenant, table, id)
        if (table === 'leases') look()
        return row
      }),
    },
    keepBack: (type) => {
      const [saved, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      awaited = { type, saved: saved.resolve, answer: answer.promise }
      return { saved: saved.promise, answer: answer.resolve }
    },
    looked: () =>
      new Promise((resolve) => {
        look = resolve
      }),
  }
}

/** Longer than any caller takes to come to the lease: so many reads, one after the other. */
async function manyReads(store: Store): Promise<void> {
  for (let i = 0; i < 50; i++) await store.sessions.find('s')
}

const count = async (store: Store, type: string): Promise<number> => (await store.page({ types: [type] })).items.length

interface Taken {
  /** Writes under the lease. */
  write(): Promise<unknown>
  end(): Promise<unknown>
}

/** The caller that takes the lease first, and one that comes while the first waits for its answer. */
interface Contest {
  first(): Promise<Taken>
  /** Begins, and returns what ends it. */
  second(): () => Promise<unknown>
}

const never = new Promise<never>(() => {})

const asRun = (run: Run): Taken => ({ write: () => run.effect('note', () => 1), end: () => run.finish() })

const runNamed = async (store: Store, name: string, key?: string): Promise<Taken> =>
  asRun(await (await store.session('s')).run(name, { ...(key !== undefined && { key }) }))

const claimed = async (store: Store): Promise<Taken> => {
  const held = await (await store.processes.get('child'))?.claim()
  return { write: async () => held?.event('page.fetched'), end: async () => held?.release() }
}

const thenAll = (taken: Promise<Taken>) => async () => {
  const { write, end } = await taken
  await write()
  await end()
}

const contests: Readonly<Record<string, (store: Store) => Promise<Contest>>> = {
  'a run and another run of its session': async (store) => ({
    first: () => runNamed(store, 'a'),
    second: () => thenAll(runNamed(store, 'b')),
  }),

  'a run and a node that claims another run of its session': async (store) => {
    await store.start('queued', { session: 's' })
    return {
      first: () => runNamed(store, 'a'),
      second: () => {
        const node = store.work({ queued: () => never })
        return () => node.close()
      },
    }
  },

  'a node that claims a run and another run of its session': async (store) => {
    const started = await store.start('queued', { session: 's' })
    return {
      first: () => {
        const [begun, ended] = [Promise.withResolvers<Taken>(), Promise.withResolvers<void>()]
        const node = store.work({
          queued: (run) => {
            const end = async () => {
              ended.resolve()
              await started.result()
              await node.close()
            }
            begun.resolve({ ...asRun(run), end })
            return ended.promise
          },
        })
        return begun.promise
      },
      second: () => thenAll(runNamed(store, 'b')),
    }
  },

  'a fork and a caller that opens the fork by its key': async (store) => {
    const source = await (await store.session('s')).run('source')
    await source.close()
    const { seq: at } = await store.head()
    return {
      first: async () => asRun(await source.fork({ at, key: 'fork' })),
      // Both are handles on one run, which only the first ends.
      second: () => {
        const other = runNamed(store, 'source', 'fork')
        return () => other
      },
    }
  },

  'two holders of a process': async (store) => {
    await store.processes.register('child', { kind: 'tool', recovery: 'rerunnable' })
    return { first: () => claimed(store), second: () => thenAll(claimed(store)) }
  },

  'a node that runs a process and a holder of the process': async (store) => {
    const child = await store.processes.register('child', { kind: 'tool', recovery: 'rerunnable' })
    return {
      first: () => {
        const [begun, ended] = [Promise.withResolvers<Taken>(), Promise.withResolvers<void>()]
        const node = store.processes.work({
          tool: (running) => {
            const end = async () => {
              ended.resolve()
              await child.result()
              await node.close()
            }
            begun.resolve({ write: () => running.event('page.fetched'), end })
            return ended.promise
          },
        })
        return begun.promise
      },
      second: () => thenAll(claimed(store)),
    }
  },
}

describe.each(['memory', 'sqlite', 'postgres'] as const)('on %s', (engine) => {
  async function opened(): Promise<{ readonly store: Store; readonly world: Slow }> {
    const place = await placeOn(engine)
    const world = slow(await place.backend())
    const store = await place.open(world.backend, { logger: false, schedule: false })
    later(() => store.close())
    await store.session('s')
    return { store, world }
  }

  test.each(Object.entries(contests))('%s: the first keeps the lease that it took', async (_, prepare) => {
    const { store, world } = await opened()
    const { first, second } = await prepare(store)
    const before = await count(store, 'lease.taken')
    const { saved, answer } = world.keepBack('lease.taken')
    const taking = first()
    await saved
    const looked = world.looked()
    const end = second()
    await Promise.race([looked, manyReads(store)])
    answer()
    const { write, end: endFirst } = await taking
    await write()
    expect(await count(store, 'lease.taken')).toBe(before + 1)
    await end()
    await endFirst()
    await expectSound(store)
  })

  test('a run that ends keeps its lease until then, though another run of its session begins', async () => {
    const { store, world } = await opened()
    const session = await store.session('s')
    const run = await session.run('a')
    const { saved, answer } = world.keepBack('effect.settled')
    const effect = run.effect('note', () => 1)
    await saved
    const looked = world.looked()
    // It releases the lease, and waits for the effect first.
    const ending = run.finish()
    const beginning = session.run('b')
    await Promise.race([looked, manyReads(store)])
    answer()
    await Promise.all([effect, ending])
    await (await beginning).finish()
    await expectSound(store)
  })

  test('two runs of a session that end at the same time release their lease', async () => {
    const { store } = await opened()
    const session = await store.session('s')
    const runs = [await session.run('a'), await session.run('b')]
    await Promise.all(runs.map((run) => run.finish()))
    expect(await count(store, 'lease.released')).toBe(1)
    await (await session.lease()).release()
    await expectSound(store)
  })
})
