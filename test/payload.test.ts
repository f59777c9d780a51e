// The size of an event's payload: what counts, and what becomes of data that is too large.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../src/environment.ts'
import { type Backend, type Event, limits, open, type Store } from '../src/index.ts'
import type { EventDraft } from '../src/model/event.ts'
import { codeOf, engines, expectSound } from './support/engines.ts'

const LIMIT = 10_000
/** Short secrets, whose masks are longer than they are. */
const secrets = (count: number): object => ({ pins: Array.from({ length: count }, (_, n) => ({ password: `pw-${1000 + n}!` })) })

const found = async (store: Store, id: string): Promise<Event> => {
  const event = await store.event(id)
  if (!event) throw new Error(`there is no event ${id}`)
  return event
}

describe.each(engines)('payloads on $name', (engine) => {
  test('the limit of a payload counts what the caller sent, and not what masking made of it', async () => {
    const store = await engine.open({ payloadBytes: LIMIT })
    const session = await store.session('s')
    const sent = secrets(300)
    expect(JSON.stringify(sent).length).toBeLessThan(LIMIT)
    const { id } = await session.append('a.b', sent)
    const stored = JSON.stringify((await store.event(id))?.data)
    expect(stored.length).toBeGreaterThan(LIMIT)
    expect(stored).not.toContain('pw-1000')
    const over = secrets(600)
    await expect(session.append('a.b', over)).rejects.toMatchObject({
      code: 'DATA_TOO_LARGE',
      details: { bytes: JSON.stringify(over).length, limit: LIMIT },
    })
  })

  test('data whose masks are several times its size is refused, and the error says so', async () => {
    const store = await engine.open({ payloadBytes: LIMIT })
    const session = await store.session('s')
    const sent = { password: Array.from({ length: 4000 }, (_, n) => n % 10) }
    expect(JSON.stringify(sent).length).toBeLessThan(LIMIT)
    await expect(session.append('a.b', sent)).rejects.toMatchObject({
      code: 'DATA_TOO_LARGE',
      details: { limit: LIMIT * limits.maskedTimes, masked: true },
      message: expect.stringContaining('after its secrets were masked'),
    })
    const open = await engine.open({ payloadBytes: LIMIT, redact: false })
    await (await open.session('s')).append('a.b', sent)
  })

  test('large data moves to a blob if the append allows it, masked, and is read by store.data', async () => {
    const store = await engine.open({ payloadBytes: LIMIT })
    const session = await store.session('s')
    const large = { text: 'x'.repeat(3 * LIMIT), password: 'hunter22!' }
    expect(await codeOf(session.append('a.b', large))).toBe('DATA_TOO_LARGE')
    const { id, seq } = await session.append('a.b', large, { large: 'blob' })
    const event = await found(store, id)
    expect(event).toMatchObject({
      seq,
      data: undefined,
      blob: { digest: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: expect.any(Number) },
    })
    expect(event.erased).toBeUndefined()
    expect(store.recent().at(-1)).toEqual(event)
    const read = (await store.data(event)) as typeof large
    expect(read.text).toBe(large.text)
    expect(read.password).toMatch(/^\[redacted:/)
    expect(new TextDecoder().decode(await store.blobs.get(event.blob as never))).not.toContain('hunter22!')
    await expectSound(store)
  })

  test('data within the limit stays in its event, whether or not the append allows a blob', async () => {
    const store = await engine.open({ payloadBytes: LIMIT })
    const session = await store.session('s')
    const { digest } = await store.blobs.put(new Uint8Array(3))
    for (const data of [{ n: 1 }, null, { digest, bytes: 3 }, { blob: { digest, bytes: 3 } }]) {
      const event = await found(store, (await session.append('a.b', data, { large: 'blob' })).id)
      expect([event.data, event.blob]).toEqual([data, undefined])
      expect(await store.data(event)).toEqual(data)
    }
    expect(await codeOf(session.append('a.b', 1, { large: 'file' as never }))).toBe('OPTION_INVALID')
  })

  test('a retry of large data finds its receipt, by its key and by its id, and other data is a conflict', async () => {
    const store = await engine.open({ payloadBytes: LIMIT })
    const session = await store.session('s')
    const [large, other] = ['x', 'y'].map((letter) => letter.repeat(2 * LIMIT))
    const id = '01HF7YAT008B78NC00T411MSDF'
    for (const [name, code] of [
      [{ key: 'k' }, 'KEY_REUSED'],
      [{ id }, 'ID_REUSED'],
    ] as const) {
      const options = { ...name, large: 'blob' } as const
      const first = await session.append('a.b', large, options)
      expect(await session.append('a.b', large, options)).toEqual(first)
      expect(await codeOf(session.append('a.b', other, options))).toBe(code)
    }
    await expectSound(store)
  })

  test('masks that make data too large move it to a blob', async () => {
    const store = await engine.open({ payloadBytes: LIMIT })
    const session = await store.session('s')
    const sent = { password: Array.from({ length: 4000 }, (_, n) => n % 10) }
    const event = await found(store, (await session.append('a.b', sent, { large: 'blob' })).id)
    expect(event.blob?.bytes).toBeGreaterThan(LIMIT * limits.maskedTimes)
  })

  test('an erased event has lost its blob, and a store without the blob refuses to read it', async () => {
    const store = await engine.open({ payloadBytes: LIMIT })
    const session = await store.session('s')
    const { id, seq } = await session.append('a.b', 'x'.repeat(2 * LIMIT), { large: 'blob' })
    const event = await found(store, id)
    expect(await codeOf(store.tenant('acme').data(event))).toBe('BLOB_UNKNOWN')
    await store.erase({ seq, reason: 'a test' })
    const erased = await found(store, id)
    expect(erased).toMatchObject({ erased: true, data: undefined })
    expect(erased.blob).toBeUndefined()
    expect(await store.data(erased)).toBeUndefined()
    expect(await codeOf(store.data(undefined as never))).toBe('OPTION_INVALID')
    await expectSound(store)
  })
})

test('an event with large data refers to its blob, and to the blobs that the data names', async () => {
  const memory = memoryBackend(nodeEnvironment)
  const written: EventDraft[] = []
  const commit: Backend['commit'] = (batch) => {
    written.push(...batch.flatMap(({ events }) => events))
    return memory.commit(batch)
  }
  await using store = await open({ backend: { ...memory, commit }, payloadBytes: LIMIT })
  const session = await store.session('s')
  const named = await store.blobs.put(new Uint8Array([1, 2, 3]))
  const { id } = await session.append('a.b', { named, text: 'x'.repeat(2 * LIMIT) }, { large: 'blob', refs: [named] })
  const { blob } = await found(store, id)
  expect(written.at(-1)?.refs?.toSorted()).toEqual([`blob:${named.digest}`, `blob:${blob?.digest}`].sort())
})
