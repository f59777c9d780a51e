// The size of an event's payload: what counts, and what becomes of data that is too large.

import { describe, expect, test } from 'vitest'
import { limits } from '../src/index.ts'
import { engines } from './support/engines.ts'

const LIMIT = 10_000
/** Short secrets, whose masks are longer than they are. */
const secrets = (count: number): object => ({ pins: Array.from({ length: count }, (_, n) => ({ password: `pw-${1000 + n}!` })) })

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
})
