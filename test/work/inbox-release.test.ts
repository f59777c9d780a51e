// A run releases a claim of its session's inbox, and goes on.

import { describe, expect, test } from 'vitest'
import type { InboxClaim, InboxOfferOptions, Session } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const now: InboxOfferOptions = { delivery: 'boundary', kind: 'turn' }

const payloads = ({ batches, why }: InboxClaim): readonly unknown[] | string => why ?? batches.map(({ payload }) => payload)
const statesOf = async (session: Session): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await session.inbox.list({ first: 1000 })).items.map(({ payload, state }) => [String(payload), state]))

async function offered(session: Session, ...batches: readonly (readonly [string, InboxOfferOptions])[]): Promise<void> {
  for (const [payload, options] of batches) await session.inbox.offer(payload, options)
}

describe.each(engines)('a released claim on $name', (engine) => {
  test('an inbox claim that is released is pending again in its old place, once, and the run goes on', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const claims: string[] = []
    {
      await using run = await session.run('turn')
      await offered(session, ['a', now], ['b', now], ['c', now])
      const { claim = '' } = await run.inbox({ at: 'idle', most: 2 })
      claims.push(claim)
      await run.inboxRelease(claim)
      expect(await statesOf(session)).toEqual({ a: 'pending', b: 'pending', c: 'pending' })
      // The run may ask again, and gets another claim.
      const again = await run.inbox({ at: 'idle', most: 1 })
      expect(payloads(again)).toEqual(['a'])
      expect(again.claim).not.toBe(claim)
      for (const unknown of [claim, '01J00000000000000000000000'])
        expect(await codeOf(run.inboxRelease(unknown))).toBe('INBOX_CLAIM_UNKNOWN')
      expect(await codeOf(run.inboxDone(claim))).toBe('INBOX_CLAIM_UNKNOWN')
      expect(await codeOf(run.inboxRelease('no id'))).toBe('ID_INVALID')
    }
    // Replay releases nothing twice.
    const run = await session.run('turn')
    expect(payloads(await run.inbox({ at: 'idle', most: 2 }))).toEqual(['a', 'b'])
    await run.inboxRelease(claims[0] ?? '')
    expect(payloads(await run.inbox({ at: 'idle', most: 1 }))).toEqual(['a'])
    for (const unknown of [claims[0] ?? '', '01J00000000000000000000000'])
      expect(await codeOf(run.inboxRelease(unknown))).toBe('INBOX_CLAIM_UNKNOWN')
    expect(await codeOf(run.inboxDone(claims[0] ?? ''))).toBe('INBOX_CLAIM_UNKNOWN')
    await run.finish()
    expect(await statesOf(session)).toEqual({ a: 'completed', b: 'pending', c: 'pending' })
    await expectSound(store)
  })

  test('an inbox claim that another run took over stays with it when it is released, and the run can finish', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await offered(session, ['a', now], ['b', now])
    const run = await session.run('turn', { key: '1' })
    const { claim = '' } = await run.inbox({ at: 'idle', most: 1 })
    await run.close()
    const robber = await session.run('turn', { key: '2' })
    expect(await robber.inbox({ at: 'idle' })).toMatchObject({ claim, redriven: true })
    await robber.close()
    const again = await session.run('turn', { key: '1' })
    await again.inbox({ at: 'idle', most: 1 })
    await again.inboxRelease(claim)
    expect(await statesOf(session)).toEqual({ a: 'claimed', b: 'pending' })
    await again.finish()
    expect(await statesOf(session)).toEqual({ a: 'claimed', b: 'pending' })
    const last = await session.run('turn', { key: '2' })
    expect(payloads(await last.inbox({ at: 'idle' }))).toEqual(['a'])
    await last.finish()
    expect(await statesOf(session)).toEqual({ a: 'completed', b: 'pending' })
    await expectSound(store)
  })
})
