// Claims of an inbox in several hands: made by a run, interrupted, gone on with, taken over, fought over.

import { describe, expect, test } from 'vitest'
import { type InboxClaim, type InboxOfferOptions, limits, type Session, type Store } from '../../src/index.ts'
import { type Engine, makePlace, mortal } from '../runs/crashing-backend.ts'
import { shared } from '../runs/in-memory.ts'
import { codeOf, expectSound, later, lentDatabase, openIn, tempFile } from '../support/engines.ts'

const LEASE_MS = 30_000
const now: InboxOfferOptions = { delivery: 'boundary', kind: 'turn' }

const payloads = ({ batches, why }: InboxClaim): readonly unknown[] | string => why ?? batches.map(({ payload }) => payload)
const statesOf = async (session: Session): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await session.inbox.list({ first: 1000 })).items.map(({ payload, state }) => [String(payload), state]))

async function offered(session: Session, ...batches: readonly (readonly [string, InboxOfferOptions])[]): Promise<void> {
  for (const [payload, options] of batches) await session.inbox.offer(payload, options)
}

describe.each<Engine>(['sqlite', 'postgres'])('a claim on %s', (engine) => {
  test('an inbox claim goes on with the run that made it, when somebody else takes the run up', async () => {
    const place = await makePlace(engine)
    const session = await place.world.session('s')
    await offered(session, ['a', now], ['b', now], ['c', now])
    const first = mortal(await place.backend())
    const dead = await place.open(first.backend)
    const before = await (await (await dead.session('s')).run('turn')).inbox({ at: 'idle', most: 2 })
    first.kill()
    await place.pass(LEASE_MS + 1)
    const run = await session.run('turn')
    expect(await run.inbox({ at: 'idle', most: 2 })).toEqual(before)
    // What it has in hand is its own: it is not offered to it a second time.
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['c'])
    expect(payloads(await run.inbox({ at: 'idle' }))).toBe('held')
    await run.finish()
    expect(await statesOf(session)).toEqual({ a: 'completed', b: 'completed', c: 'completed' })
    await expectSound(place.world)
  })

  test('an inbox claim that was interrupted is taken over as it was made, and whoever had it completes nothing', async () => {
    const place = await makePlace(engine)
    const session = await place.world.session('s')
    await offered(session, ['a', now], ['delayed', { ...now, delay: '10s' }], ['b', now], ['c', now])
    const first = mortal(await place.backend())
    const dead = await place.open(first.backend)
    const lost = await (await dead.session('s')).run('turn', { key: 'lost' })
    const before = await lost.inbox({ at: 'idle', most: 2 })
    expect(payloads(before)).toEqual(['a', 'b'])
    first.kill()
    await place.pass(LEASE_MS + 1)
    const other = await session.run('turn', { key: 'other' })
    // The limit is another now, and something in between has become due.
    const redriven = await other.inbox({ at: 'idle', most: 1 })
    expect(redriven).toEqual({ ...before, redriven: true })
    expect((await session.inbox.list({ first: 1 })).items).toMatchObject([{ attempt: 2, claim: { run: other.id, fence: other.fence } }])
    expect(payloads(await other.inbox({ at: 'idle' }))).toEqual(['delayed', 'c'])
    // The run it was taken from is picked up after all.
    const again = await session.run('turn', { key: 'lost' })
    expect(await again.inbox({ at: 'idle', most: 2 })).toEqual(before)
    const head = await place.world.head()
    const refusal = await again.inboxDone(before.claim ?? '').catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'INBOX_CLAIM_LOST', details: { claim: before.claim, run: again.id, holder: other.id } })
    expect(await codeOf(again.finish())).toBe('INBOX_CLAIM_LOST')
    expect(await codeOf(again.effect('more', () => 1))).toBe('INBOX_CLAIM_LOST')
    expect(await place.world.head()).toEqual(head)
    await again.fail(refusal)
    expect(await statesOf(session)).toMatchObject({ a: 'claimed', b: 'claimed' })
    await other.finish()
    expect(await statesOf(session)).toEqual({ a: 'completed', b: 'completed', c: 'completed', delayed: 'completed' })
    await expectSound(place.world)
  })

  test('an inbox claim that a run failed to complete with its end fails it where a node runs it', async () => {
    const place = await makePlace(engine)
    const session = await place.world.session('s')
    await offered(session, ['a', now])
    const first = mortal(await place.backend())
    const dead = await place.open(first.backend)
    const holding = Promise.withResolvers<void>()
    dead.work({
      turn: async (run) => {
        await run.inbox({ at: 'idle' })
        holding.resolve()
        await new Promise(() => {})
      },
    })
    const handle = await place.world.start('turn', { session: 's' })
    await holding.promise
    first.kill()
    await place.pass(LEASE_MS + 1)
    const other = await session.run('another')
    expect(await other.inbox({ at: 'idle' })).toMatchObject({ redriven: true })
    await other.close()
    await using _ = place.world.work({ turn: async (run) => payloads(await run.inbox({ at: 'idle' })) })
    expect(await codeOf(handle.result())).toBe('RUN_FAILED')
    expect(await place.world.runs.get(handle.id)).toMatchObject({ state: 'failed', error: { code: 'INBOX_CLAIM_LOST' } })
    expect(await statesOf(session)).toEqual({ a: 'claimed' })
    await expectSound(place.world)
  })

  test('an inbox claim that a run lost and got back is in its hands once, and completed with it', async () => {
    const place = await makePlace(engine)
    const session = await place.world.session('s')
    await offered(session, ['a', now], ['b', now])
    const run = await session.run('turn', { key: '1' })
    const before = await run.inbox({ at: 'idle', most: 1 })
    await run.close()
    const robber = await session.run('turn', { key: '2' })
    expect(await robber.inbox({ at: 'idle' })).toEqual({ ...before, redriven: true })
    await robber.fail(new Error('no'))
    const again = await session.run('turn', { key: '1' })
    expect(await again.inbox({ at: 'idle', most: 1 })).toEqual(before)
    expect(payloads(await again.inbox({ at: 'idle' }))).toEqual(['a', 'b'])
    expect(await codeOf(again.inboxDone(before.claim ?? ''))).toBe('INBOX_CLAIM_UNKNOWN')
    await again.finish()
    expect(await statesOf(session)).toEqual({ a: 'completed', b: 'completed' })
    await expectSound(place.world)
  })

  test('an inbox claim of a process that was paused past its lease is refused by the fence', async () => {
    const place = await makePlace(engine)
    const session = await place.world.session('s')
    await offered(session, ['a', now], ['b', { ...now, join: false }])
    const sleeper = await place.open(await place.backend())
    later(() => sleeper.close())
    const paused = await (await sleeper.session('s')).run('turn')
    await paused.inbox({ at: 'idle' })
    await place.pass(LEASE_MS + 1)
    const run = await session.run('turn', { key: 'other' })
    const head = await place.world.head()
    expect(await codeOf(paused.inbox({ at: 'idle' }))).toBe('FENCE_LOST')
    expect(await codeOf(paused.finish())).toBe('FENCE_LOST')
    expect(await place.world.head()).toEqual(head)
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['a'])
    expect(payloads(await run.inbox({ at: 'idle' }))).toEqual(['b'])
    await run.finish()
    await expectSound(place.world)
  })
})

describe.each(['sqlite', 'postgres'] as const)('two handles on %s', (name) => {
  const both = async (): Promise<readonly [Store, Store]> => {
    const url = name === 'postgres' ? await lentDatabase() : tempFile()
    return [await openIn(url), await openIn(url)]
  }

  test('two handles that ask at once for one inbox do not both get it', async () => {
    const [one, two] = await both()
    await offered(await one.session('s'), ['a', now], ['b', now])
    const ask = async (store: Store, key: string) => {
      const run = await (await store.session('s')).run('turn', { key })
      return { run, taken: await run.inbox({ at: 'idle' }) }
    }
    const outcomes = await Promise.allSettled([ask(one, '1'), ask(two, '2')])
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value)
    expect(won).toHaveLength(1)
    expect(payloads((won[0] as (typeof won)[0]).taken)).toEqual(['a', 'b'])
    await won[0]?.run.finish()
    await expectSound(one)
  })

  test('two handles of which one cancels and one claims agree on each batch', async () => {
    const [one, two] = await both()
    const [mine, yours] = [await one.session('s'), await two.session('s')]
    const run = await mine.run('turn')
    const claimed: unknown[] = []
    const cancelled: unknown[] = []
    const whys = new Set<string>()
    for (let round = 0; round < 15; round++) {
      const { id } = await yours.inbox.offer(round, now)
      const [taken, { outcome }] = await Promise.all([run.inbox({ at: 'idle' }), yours.inbox.cancel(id)])
      claimed.push(...taken.batches.map((batch) => batch.id))
      if (taken.why) whys.add(taken.why)
      if (outcome === 'cancelled') cancelled.push(id)
    }
    claimed.push(...(await run.inbox({ at: 'idle' })).batches.map((batch) => batch.id))
    expect(claimed.filter((id) => cancelled.includes(id))).toEqual([])
    expect(new Set(claimed).size).toBe(claimed.length)
    expect(claimed.length + cancelled.length).toBe(15)
    for (const why of whys) expect(['lostRace', 'empty', 'held']).toContain(why)
    await run.finish()
    await expectSound(one)
  })
})

describe('in one process', () => {
  test('two runs that share the lease of their session do not take from each other, and the slower is told that it lost', async () => {
    const open = shared()
    const other = await open()
    let between: (() => Promise<unknown>) | undefined
    // Between what it saw and what it writes, somebody else was there.
    const store = await open({}, (backend) => ({
      ...backend,
      commit: async (batch) => {
        if (batch.some(({ events }) => events.some(({ type }) => type === 'batch.claimed'))) {
          const act = between
          between = undefined
          await act?.()
        }
        return backend.commit(batch)
      },
    }))
    const session = await store.session('s')
    await offered(session, ['a', now], ['b', now])
    const [one, two] = [await session.run('turn', { key: '1' }), await session.run('turn', { key: '2' })]
    expect(one.fence).toBe(two.fence)
    const [first] = (await session.inbox.list({ first: 1 })).items
    between = async () => (await other.session('s')).inbox.cancel(first?.id ?? '')
    expect(await one.inbox({ at: 'idle' })).toEqual({ batches: [], why: 'lostRace' })
    expect(payloads(await one.inbox({ at: 'idle' }))).toEqual(['b'])
    expect(payloads(await two.inbox({ at: 'idle' }))).toBe('held')
    await one.finish()
    await two.finish()
    await expectSound(store)
  })

  test('a run has so much in hand and no more, and finds what it may have behind any number that it has', async () => {
    const store = await shared()()
    const session = await store.session('s')
    const run = await session.run('turn')
    for (let i = 0; i < limits.runBatches + 1; i++) await session.inbox.offer(i, now)
    let taken = 0
    for (;;) {
      const { batches, why } = await run.inbox({ at: 'idle' })
      if (why === 'full') break
      taken += batches.length
    }
    expect(taken).toBe(limits.runBatches)
    await run.finish()
    expect((await session.inbox.list({ state: 'completed', last: 1000 })).items).toHaveLength(1000)
    expect((await session.inbox.list({ state: 'pending' })).items).toHaveLength(1)
    await expectSound(store)
  }, 60_000)
})
