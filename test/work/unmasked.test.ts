// `redact: false` on an append or an offer: this value is stored as it came, and others are masked as before.

import { describe, expect, test } from 'vitest'
import type { InkError, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const secret = { password: 'hunter2-hunter2', note: 'sk-ant-REDACTED' }
const whole = { redact: false } as const

async function eventsWithSecrets(store: Store): Promise<readonly string[]> {
  const types: string[] = []
  for await (const { type, data } of store.events()) if (JSON.stringify(data ?? {}).includes('hunter2')) types.push(type)
  return types
}

describe.each(engines)('on $name', (engine) => {
  test('an append with redact: false stores its data unmasked, and its key finds the receipt again', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.append('note.masked', secret, { redact: true })
    const { seq } = await session.append('note.whole', secret, { ...whole, key: 'k' })
    expect((await session.append('note.whole', secret, { ...whole, key: 'k' })).seq).toBe(seq)
    expect(await codeOf(session.append('note.whole', secret, { key: 'k' }))).toBe('KEY_REUSED')
    expect(await eventsWithSecrets(store)).toEqual(['note.whole'])
    expect((await store.page({ types: ['note.whole'] })).items[0]?.data).toEqual(secret)
    await expectSound(store)
  })

  test('an event of appendAll with redact: false is stored unmasked, and its neighbours are masked', async () => {
    const store = await engine.open()
    const events = [
      { type: 'note.masked', data: secret },
      { type: 'note.whole', data: secret, ...whole },
      { type: 'note.asked', data: secret, redact: true },
    ]
    const receipts = await store.appendAll(events, { key: 'k' })
    expect(await store.appendAll(events, { key: 'k' })).toEqual(receipts)
    expect(await eventsWithSecrets(store)).toEqual(['note.whole'])
    expect(await codeOf(store.appendAll([{ type: 'a.b', data: 1, redact: 'no' as never }]))).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('a queue item offered with redact: false keeps its payload unmasked, also after a redrive', async () => {
    const store = await engine.open()
    const queue = store.queue('q')
    await queue.offer(secret, { ...whole, attempts: 1, key: 'k' })
    expect(await queue.offer(secret, { ...whole, attempts: 1, key: 'k' })).toMatchObject({ repeated: true })
    const first = await queue.claim()
    expect(first?.payload).toEqual(secret)
    await first?.fail(new Error('no'))
    await queue.redrive()
    const again = await queue.claim()
    expect(again?.payload).toEqual(secret)
    await again?.complete()
    await queue.offer(secret, { redact: true })
    const masked = await queue.claim()
    expect(JSON.stringify(masked?.payload)).not.toContain('hunter2')
    await masked?.complete()
    expect(await eventsWithSecrets(store)).toEqual(['work.offered', 'work.offered'])
    await expectSound(store)
  })

  test('an input and an inbox item offered with redact: false reach their run unmasked, also on replay', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const take = async () => {
      const run = await session.run('r')
      const [input] = await run.inputs({ from: 'next' })
      const { batches } = await run.inbox({ at: 'idle' })
      return { run, taken: [input?.content, batches[0]?.payload] }
    }
    await session.input(secret, { ...whole, turn: 'next' })
    await session.inbox.offer(secret, { ...whole, delivery: 'afterTurn', kind: 'turn' })
    const first = await take()
    expect(first.taken).toEqual([secret, secret])
    await first.run.close()
    const again = await take()
    expect(again.taken).toEqual([secret, secret])
    await again.run.finish()
    await expectSound(store)
  })

  test('a redact that is no boolean is refused, and nothing is written', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const { seq } = await store.head()
    const wrong = { redact: 'false' as unknown as boolean }
    const calls: readonly (() => Promise<unknown>)[] = [
      () => session.append('note.made', 1, wrong),
      () => store.queue('q').offer(1, wrong),
      () => session.input(1, wrong),
      () => session.inbox.offer(1, { ...wrong, delivery: 'afterTurn', kind: 'turn' }),
    ]
    for (const call of calls) expect(await call().catch((error: InkError) => error.code)).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
  })
})
