// A process whose clock is ahead, beside others with the same SQLite file. It removes nothing by its age: neither what expired for it alone, nor
// what was put a moment ago.

import { describe, expect, test } from 'vitest'
import { fileBackend } from '../src/backends/sqlite/backend.ts'
import { type MaintenanceReport, open, type Store, type StoreOptions } from '../src/index.ts'
import { limits } from '../src/model/limits.ts'
import type { Backend } from '../src/ports/backend.ts'
import { codeOf, engines, expectSound, later, lentDatabase, openIn, tempFile, tempFolder } from './support/engines.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** Time passes for every process alike; each shows it with an error of its own. */
function world() {
  let passed = 0
  const start = Date.now()
  const clockOf = (error: number) => ({ now: () => start + passed + error, monotonic: () => performance.now() + passed })
  const pass = (ms: number): void => {
    passed += ms
  }
  return { clockOf, pass, now: () => start + passed }
}

const places: readonly { readonly name: string; readonly place: () => Partial<StoreOptions> & { readonly url: string } }[] = [
  { name: 'one file', place: () => ({ url: tempFile() }) },
  { name: 'a folder', place: () => ({ url: tempFolder(), layout: 'tenant' }) },
]

interface Content {
  /** Names of what is there. */
  left(store: Store): Promise<readonly string[]>
}

const ALL = ['entry', 'item', 'value', 'blob', 'attachment', 'inbox', 'receipt']

/** Puts one of everything that goes with its age. */
async function fill(store: Store): Promise<Content> {
  const session = await store.session('s')
  await store.state.set('k', 1, { ttl: '2h' })
  const item = await store.memory.remember('the train leaves at nine', { ttl: '2h' })
  const value = await store.values.put({ plan: 'x'.repeat(300) })
  const blob = await store.blobs.put(new Uint8Array(5000).fill(7))
  await session.attachments.put(new Uint8Array(100).fill(9))
  const offered = await session.inbox.offer({ task: 1 }, { key: 'k', kind: 'turn', delivery: 'afterTurn' })
  await session.inbox.cancel(offered.id)
  const { seq } = await session.append('a.b', 1, { key: 'once' })
  return {
    left: async (from) => {
      const attached = []
      for await (const one of from.attachments.uncommitted()) attached.push(one)
      const there: Readonly<Record<string, boolean>> = {
        entry: (await from.state.get('k')) !== undefined,
        item: (await from.memory.get(item.id)) !== undefined,
        value: (await codeOf(from.values.get(value))) === 'no error',
        blob: (await codeOf(from.blobs.get(blob))) === 'no error',
        attachment: attached.length > 0,
        inbox: (await (await from.session('s')).inbox.list({ state: 'cancelled' })).items.length > 0,
        receipt: (await (await from.session('s')).append('a.b', 1, { key: 'once' })).seq === seq,
      }
      return ALL.filter((name) => there[name])
    },
  }
}

/** Everything that removes by age. */
async function removeOld(store: Store): Promise<MaintenanceReport> {
  const report = await store.maintain()
  await store.memory.maintain()
  await (await store.session('s')).inbox.prune({ olderThan: '2h' })
  await store.attachments.sweep()
  await store.collect()
  return report
}

/** The same backend, which trusts every clock. */
const trusting = (backend: Backend): Backend => {
  const { clock: _, ...upkeep } = backend.upkeep
  return { ...backend, upkeep }
}

describe.each(places)('in $name', ({ place }) => {
  const opened = (at: ReturnType<typeof world>) => {
    const where = place()
    return async (error = 0): Promise<Store> => {
      const store = await open({ ...where, logger: false, schedule: false, clock: at.clockOf(error) })
      later(() => store.close())
      return store
    }
  }

  test('a process whose clock is a year ahead removes nothing, also after it has written, and its health says why', async () => {
    const at = world()
    const node = opened(at)
    const right = await node()
    const { left } = await fill(right)
    const ahead = await node(YEAR)
    await ahead.appendAll([{ type: 'a.b', data: 1 }])
    await removeOld(ahead)
    expect(await left(right)).toEqual(ALL)
    const { status, ready, why, clock } = await ahead.health()
    expect([status, ready]).toEqual(['degraded', true])
    expect(why.join()).toMatch(/^the clock of this process shows .*, 8760 h more than the newest time that the store is sure of/)
    expect(clock).toMatchObject({ now: at.now() + YEAR })
    expect(await right.health()).toMatchObject({ status: 'ok', why: [] })
    await expectSound(right)
  })

  test('a process whose clock is ahead is not trusted while another reads a smaller time, however long that goes on', async () => {
    const at = world()
    const node = opened(at)
    const [right, ahead] = [await node(), await node(YEAR)]
    const { left } = await fill(right)
    for (let n = 0; n < 9; n++) {
      await removeOld(ahead)
      at.pass(limits.clockLookMs / 2)
      await removeOld(right)
      at.pass(limits.clockLookMs / 2)
    }
    // It removes what is over by the smaller time, as anyone would.
    await removeOld(ahead)
    expect(await left(right)).toEqual(['value', 'blob', 'attachment', 'receipt'])
    expect((await ahead.health()).clock?.until).toBeDefined()
  })

  test('a store that nobody used for a month removes nothing at first, and goes on by itself an hour later', async () => {
    const at = world()
    const node = opened(at)
    const before = await node()
    const { left } = await fill(before)
    await before.close()
    at.pass(31 * DAY)
    const store = await node()
    expect((await removeOld(store)).receiptsForgotten).toBe(0)
    expect((await store.health()).status).toBe('degraded')
    // Nothing was removed, but what has expired is absent.
    expect(await left(store)).toEqual(['value', 'blob', 'attachment', 'inbox', 'receipt'])
    at.pass(limits.clockProofMs)
    await removeOld(store)
    expect((await store.health()).status).toBe('ok')
    expect(await left(store)).toEqual([])
    await expectSound(store)
  })

  test('visits once a day remove what was over at the visit before', async () => {
    const at = world()
    const node = opened(at)
    const before = await node()
    const { left } = await fill(before)
    await before.close()
    const visit = async (): Promise<readonly string[]> => {
      at.pass(40 * DAY)
      const store = await node()
      await removeOld(store)
      const there = await left(store)
      await store.close()
      return there
    }
    expect(await visit()).toEqual(['value', 'blob', 'attachment', 'inbox', 'receipt'])
    expect(await visit()).toEqual([])
  })

  test('a process whose clock is behind keeps the others from removing what it puts, until it is gone', async () => {
    const at = world()
    const node = opened(at)
    const right = await node()
    await right.appendAll([{ type: 'a.b', data: 1 }])
    const behind = await node(-YEAR)
    const { left } = await fill(behind)
    await removeOld(behind)
    await removeOld(right)
    expect(await left(behind)).toEqual(ALL)
    expect((await right.health()).clock).toMatchObject({ trusted: at.now() - YEAR })
    await behind.close()
    at.pass(limits.clockProofMs)
    await removeOld(right)
    expect((await right.health()).status).toBe('ok')
    expect(await left(right)).toEqual([])
  })

  test('a clock that is set while its process runs removes nothing; time that passes for both of its clocks does', async () => {
    const at = world()
    let set = 0
    const steady = at.clockOf(0)
    const store = await open({
      ...place(),
      logger: false,
      schedule: false,
      clock: { now: () => steady.now() + set, monotonic: steady.monotonic },
    })
    later(() => store.close())
    const { left } = await fill(store)
    set = 40 * DAY
    await removeOld(store)
    set = 0
    expect(await left(store)).toEqual(ALL)
    at.pass(40 * DAY)
    await removeOld(store)
    expect(await left(store)).toEqual([])
  })
})

test('without the comparison, the process that is ahead removes it all: the tests above would notice', async () => {
  const at = world()
  const path = tempFile()
  const right = await open({ url: path, logger: false, schedule: false, clock: at.clockOf(0) })
  const backend = trusting(await fileBackend({ path, now: at.clockOf(YEAR).now }))
  const ahead = await open({ backend, logger: false, schedule: false, clock: at.clockOf(YEAR) })
  later(() => Promise.all([right.close(), ahead.close()]))
  const { left } = await fill(right)
  await removeOld(ahead)
  expect(await left(right)).toEqual([])
})

test.each([
  ['a process that only has the file open refutes one that leapt', 20, false],
  ['a process that never looks does not: then an hour is enough', 2 ** 30, true],
])('%s', async (_name, clockLookMs, trusted) => {
  const at = world()
  const path = tempFile()
  const backend = await fileBackend({ path, now: at.clockOf(0).now, steady: at.clockOf(0).monotonic, clockLookMs })
  const ahead = await open({ url: path, logger: false, schedule: false, clock: at.clockOf(YEAR) })
  later(() => Promise.all([backend.close(), ahead.close()]))
  await removeOld(ahead)
  const until = async () => (await ahead.health()).clock?.until
  const first = await until()
  at.pass(1000)
  // Once it is refuted, its hour begins anew.
  if (!trusted) while ((await until()) === first) await new Promise((done) => setTimeout(done, 5))
  at.pass(limits.clockProofMs)
  await removeOld(ahead)
  expect((await until()) === undefined).toBe(trusted)
})

// One clock counts for every node: that of the database. A store in memory has one process.
test.each(engines.filter(({ name }) => name === 'postgres'))(
  'on $name a process whose clock is ahead removes nothing: it is not asked',
  async () => {
    const url = await lentDatabase()
    const [right, ahead] = [await openIn(url), await openIn(url, { clock: world().clockOf(YEAR) })]
    const { left } = await fill(right)
    await removeOld(ahead)
    expect(await left(right)).toEqual(ALL)
    expect((await ahead.health()).clock).toBeUndefined()
  },
)
