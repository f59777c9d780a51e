// Declared shapes of payloads and of entries of state.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { StandardSchemaV1 } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const Mail = z.object({ to: z.string(), copies: z.number().default(1) })

/** A schema written by hand: a function, as those of some libraries are, with what a schema may say of a place. */
const handmade: StandardSchemaV1<string, { readonly page: number }> = Object.assign(() => {}, {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof value === 'string'
        ? { value: { page: Number(value) } }
        : { issues: [{ message: 'x'.repeat(500), path: ['a', { key: 0 }, { key: 'b' }] }, { message: 'no path' }] },
  },
} as const)

describe.each(engines)('on $name', (engine) => {
  test('a queue with a declared payload checks what is offered, and workers get what the schema made of it', async () => {
    const store = await engine.open()
    const mails = store.queue('mail', { payload: Mail })
    const item = await mails.offer({ to: 'ada' }, { key: 'k' })
    const { seq } = await store.head()
    expect(await codeOf(mails.offer({ to: 7 } as never))).toBe('SHAPE_INVALID')
    expect((await store.head()).seq).toBe(seq)
    expect((await mails.offer({ to: 'ada' }, { key: 'k' })).repeated).toBe(true)
    expect((await mails.get(item.id))?.payload).toEqual({ to: 'ada', copies: 1 })
    const claim = await mails.claim()
    const { to, copies } = claim?.payload ?? { to: '', copies: 0 }
    expect(`${to} ${copies}`).toBe('ada 1')
    await claim?.complete()
    await expectSound(store)
  })

  test('an entry with a declared value checks what is set, and returns what the schema made of it', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    for (const state of [store.state, session.state]) {
      const cursor = state.entry('cursor', { value: handmade })
      expect(await cursor.get()).toBeUndefined()
      const { revision } = await cursor.set('7', { expect: 0 })
      expect((await cursor.get())?.value.page).toBe(7)
      const { seq } = await store.head()
      const refused = await cursor.set(7 as never).catch((error) => error)
      expect(refused.details).toEqual({
        of: "value of state 'cursor'",
        issues: [
          { path: '$.a[0].b', message: `${'x'.repeat(199)}…` },
          { path: '$', message: 'no path' },
        ],
        found: 2,
      })
      expect((await store.head()).seq).toBe(seq)
      expect((await cursor.get())?.revision).toBe(revision)
      expect(await cursor.exists()).toBe(true)
      expect(await cursor.delete({ expect: revision })).toBe(true)
    }
    await expectSound(store)
  })
})
