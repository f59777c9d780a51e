// A changed byte in a stored receipt of an idempotency key is noticed, on every engine that stores it.

import { describe, expect, test } from 'vitest'
import { sha256 } from '../../src/conformance/material.ts'
import { fromHex, hex } from '../../src/model/bytes.ts'
import { bodyDigest, receiptDigest } from '../../src/model/chain.ts'
import { codeOf } from '../support/engines.ts'
import { tampered } from './engines.ts'

describe.each(tampered)('on $name', ({ make }) => {
  test('a receipt that nobody changed is intact, also of several events, of transient ones and of erased ones', async () => {
    const { store } = await make()
    const session = await store.session('s')
    const first = await session.append('a.b', { n: 1, ü: ['x', null] }, { key: 'plain' })
    await session.append('a.b', null, { key: 'caused', cause: first.id, transient: true })
    await session.append('a.b', 'text', { key: 'kept', transient: false })
    const erased = await session.append('a.b', { n: 2 }, { key: 'erased' })
    await store.appendAll(
      [
        { session: session.id, type: 'a.b', data: 1 },
        { type: 'a.c', data: {} },
      ],
      { key: 'several' },
    )
    await store.erase({ seq: erased.seq, reason: 'asked for' })
    expect(await store.verifyKeys()).toEqual({ intact: true, receipts: 5, problems: [] })
    expect(await store.verify()).toMatchObject({ intact: true, keys: { intact: true, receipts: 5 } })
    expect((await session.append('a.b', 'text', { key: 'kept' })).seq).toBe(4)
  })

  test.each(['body', 'key', 'seq', 'count', 'at', 'digest'])('a changed receipts.%s is found by verify and verifyKeys', async (column) => {
    const { store, ask, bytes, table } = await make()
    const session = await store.session('s')
    await session.append('a.b', { n: 1 }, { key: 'other' })
    const { seq } = await session.append('a.b', { n: 2 }, { key: 'k' })
    const flipped = { body: bytes('00'.repeat(32)), key: bytes('00'.repeat(16)), digest: bytes('00'.repeat(16)) }
    await ask(`update ${table('receipts')} set ${column} = ${flipped[column as 'body'] ?? `${column} + 1`} where seq = ${seq}`)
    const report = await store.verify()
    expect(report).toMatchObject({
      intact: false,
      problems: [],
      keys: { receipts: 2, problems: [{ reason: expect.stringContaining('not what was written') }] },
    })
    expect(report.keys).toEqual(await store.verifyKeys())
    // A retry cannot find a receipt whose key was changed. It meets every other damage, and is not told that it asks for something else.
    if (column !== 'key') expect(await codeOf(session.append('a.b', { n: 2 }, { key: 'k' }))).toBe('BACKEND_FAILED')
    expect(await session.append('a.b', { n: 1 }, { key: 'other' })).toMatchObject({ seq: 2 })
  })

  test('a receipt that was changed together with its digest is found by the journal', async () => {
    const { store, ask, bytes, table } = await make()
    const session = await store.session('s')
    await session.append('a.b', { n: 1 }, { key: 'k' })
    const [row = {}] = await ask(`select key, seq, count, at from ${table('receipts')}`)
    const body = bodyDigest(sha256, fromHex('00'.repeat(16)), '[]')
    const [seq, count, at] = [Number(row.seq), Number(row.count), Number(row.at)]
    const digest = receiptDigest(sha256, 'main', { key: row.key as Uint8Array, seq, count, body, at })
    await ask(`update ${table('receipts')} set body = ${bytes(hex(body))}, digest = ${bytes(hex(digest))}`)
    expect((await store.verifyKeys()).problems).toEqual([{ seq: 2, reason: expect.stringContaining('of another command') }])
  })
})
