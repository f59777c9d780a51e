// Key-value state: set, read, compare-and-set, expiry, lists, sessions.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const listed = async (entries: AsyncIterable<{ readonly key: string }>): Promise<readonly string[]> => {
  const keys: string[] = []
  for await (const { key } of entries) keys.push(key)
  return keys
}

describe.each(engines)('key-value state on $name', ({ open, openInTime }) => {
  test('an entry reads back as it was set: JSON, large JSON, what the journal refuses, and bytes', async () => {
    const store = await open()
    const contents: readonly unknown[] = [
      null,
      { page: 7 },
      'text',
      -0,
      ['\ud800'],
      { deep: Array.from({ length: 100 }).reduce<unknown>((inner) => [inner], 'bottom') },
      Array.from({ length: 500 }, (_, i) => ({ role: 'user', content: `message ${i}` })),
      Uint8Array.from([0, 255, 1]),
    ]
    for (const [i, content] of contents.entries()) {
      const { revision } = await store.state.set('k', content)
      const entry = await store.state.get('k')
      expect(entry, `content ${i}`).toEqual({ key: 'k', value: content, revision })
      expect(Object.is(entry?.value, -0)).toBe(Object.is(content, -0))
    }
    expect(await store.state.get('unknown')).toBeUndefined()
    expect([await store.state.exists('k'), await store.state.exists('unknown')]).toEqual([true, false])
    expect([await store.state.delete('k'), await store.state.delete('k')]).toEqual([true, false])
    expect(await store.state.get('k')).toBeUndefined()
    await store.collect({ grace: 0 })
    await expectSound(store)
  })

  test('a wrong revision is refused and names both, and of two writers one wins', async () => {
    const store = await open()
    const { revision } = await store.state.set('k', 1, { expect: 0 })
    expect(await codeOf(store.state.set('k', 2, { expect: 0 }))).toBe('STATE_CHANGED')
    await expect(store.state.set('k', 2, { expect: revision + 1 })).rejects.toMatchObject({
      code: 'STATE_CHANGED',
      details: { key: 'k', expect: revision + 1, found: revision },
    })
    const answers = await Promise.allSettled([2, 3, 4].map((value) => store.state.set('k', value, { expect: revision })))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'STATE_CHANGED' })
    expect(await codeOf(store.state.delete('k', { expect: revision }))).toBe('STATE_CHANGED')
    const now = await store.state.get('k')
    expect(await store.state.delete('k', { expect: now?.revision ?? -1 })).toBe(true)
    await store.state.set('k', 5, { expect: 0 })
    await expectSound(store)
  })

  test('an entry with a time to live is absent afterwards, by the store’s clock, and maintenance removes it', async () => {
    const { store, pass } = await openInTime()
    await store.state.set('brief', 1, { ttl: '1h' })
    await store.state.set('lasting', 2)
    await pass(59 * 60_000)
    expect((await store.state.get('brief'))?.value).toBe(1)
    await pass(60_000)
    expect(await store.state.get('brief')).toBeUndefined()
    expect(await store.state.exists('brief')).toBe(false)
    expect(await listed(store.state.list())).toEqual(['lasting'])
    expect((await store.maintain()).stateExpired).toBe(1)
    expect((await store.maintain()).stateExpired).toBe(0)
    await store.state.set('brief', 3, { expect: 0 })
    expect((await store.state.get('brief'))?.value).toBe(3)
    await expectSound(store)
  })

  test('lists are in the order of keys, by prefix, either way and from a place on', async () => {
    const store = await open()
    for (const key of ['b/2', 'a/1', 'a/3', 'a/2', 'a', 'b/1', 'a/\u{1f600}']) await store.state.set(key, key)
    expect(await listed(store.state.list('a/'))).toEqual(['a/1', 'a/2', 'a/3', 'a/\u{1f600}'])
    expect(await listed(store.state.list())).toEqual(['a', 'a/1', 'a/2', 'a/3', 'a/\u{1f600}', 'b/1', 'b/2'])
    expect(await listed(store.state.list('a/', { after: 'a/1' }))).toEqual(['a/2', 'a/3', 'a/\u{1f600}'])
    expect(await listed(store.state.list('a/', { after: 'a/3', backwards: true }))).toEqual(['a/2', 'a/1'])
    expect(await listed(store.state.list('b', { backwards: true }))).toEqual(['b/2', 'b/1'])
  })

  test('a prefix is text, and no character of it or behind it means something else', async () => {
    const store = await open()
    const keys = [
      'p',
      'p%',
      'p%1',
      'p[a]',
      'p_1',
      'pa1',
      'p\ud7ff',
      'p\uffff',
      'p\u{1f600}',
      'p\u{10ffff}',
      'p\u{10ffff}1',
      'q',
      '\u{10ffff}',
    ]
    for (const key of keys) await store.state.set(key, key)
    for (const prefix of ['', 'p', 'p%', 'p_', 'p[', 'p\ud7ff', 'p\u{1f600}', 'p\u{10ffff}', '\u{10ffff}']) {
      const found = keys.filter((key) => key.startsWith(prefix))
      expect(await listed(store.state.list(prefix))).toEqual(found)
      expect(await listed(store.state.list(prefix, { backwards: true }))).toEqual(found.toReversed())
    }
    for (const prefix of ['p\0', 'p\ud83d']) expect(await codeOf(listed(store.state.list(prefix)))).toBe('OPTION_INVALID')
  })

  test('JSON keeps the order of its keys, whatever its size, and the blobs in it are kept', async () => {
    const store = await open()
    for (const [key, text] of Object.entries({ small: 'x', large: 'x'.repeat(5000), wide: 'x'.repeat(800) })) {
      const file = await store.blobs.put(new TextEncoder().encode(key), { kind: 'tool-state' })
      const value = { z: text, file, list: [{ b: text, a: [1, { y: 1, x: 2 }] }], m: 1 }
      await store.state.set(key, value)
      await store.collect({ grace: 0 })
      expect(JSON.stringify((await store.state.get(key))?.value), key).toBe(JSON.stringify(value))
      expect((await store.blobs.get(file)).length).toBe(key.length)
    }
    await store.state.delete('small')
    expect((await store.collect({ grace: 0 })).deleted.blobs).toBe(1)
    await expectSound(store)
  })

  test('state of a session, of the tenant and of another tenant are apart, and a session takes its own with it', async () => {
    const store = await open()
    const session = await store.session('s')
    await store.state.set('k', 'tenant')
    await session.state.set('k', 'session')
    await store.tenant('other').state.set('k', 'other')
    expect([(await store.state.get('k'))?.value, (await session.state.get('k'))?.value]).toEqual(['tenant', 'session'])
    expect((await store.tenant('other').state.get('k'))?.value).toBe('other')
    await session.archive()
    expect(await codeOf(session.state.set('k', 1))).toBe('SESSION_ARCHIVED')
    await session.delete({ reason: 'over' })
    expect(await codeOf(session.state.get('k'))).toBe('SESSION_DELETED')
    expect((await store.state.get('k'))?.value).toBe('tenant')
    await expectSound(store)
  })

  test('a value is kept exactly, and masked if the caller asks for it', async () => {
    const store = await open()
    await store.state.set('k', { password: 'hunter2-hunter2' })
    expect((await store.state.get('k'))?.value).toEqual({ password: 'hunter2-hunter2' })
    await store.state.set('k', { password: 'hunter2-hunter2' }, { redact: true })
    expect(JSON.stringify((await store.state.get('k'))?.value)).not.toContain('hunter2')
  })

  test('an entry whose payload was erased is gone, and rows are those of a rebuild', async () => {
    const store = await open()
    const first = await store.state.set('k', 1)
    const second = await store.state.set('k', 2)
    await store.erase({ seq: first.revision, reason: 'r' })
    await expectSound(store)
    expect((await store.state.get('k'))?.value).toBe(2)
    await store.erase({ seq: second.revision, reason: 'r' })
    expect([await store.state.get('k'), await store.state.delete('k'), await listed(store.state.list())]).toEqual([undefined, false, []])
    await expectSound(store)
    await store.state.set('k', 3, { expect: 0 })
    expect((await store.state.get('k'))?.value).toBe(3)
    await store.session('exec-1')
    await store.snapshots.save('exec-1', { state: 1 })
    const { seq } = await store.head()
    await store.snapshots.save('exec-1', { state: 2 })
    await store.erase({ seq, reason: 'r' })
    await expectSound(store)
    expect((await store.snapshots.load('exec-1'))?.state).toBe(2)
    await store.erase({ seq: (await store.head()).seq - 1, reason: 'r' })
    expect([await store.snapshots.load('exec-1'), (await store.snapshots.list()).items]).toEqual([undefined, []])
    await expectSound(store)
  })

  test('bad input is refused, and nothing is written', async () => {
    const store = await open()
    const { seq } = await store.head()
    const { state } = store
    expect(await codeOf(state.set('', 1))).toBe('KEY_INVALID')
    expect(await codeOf(state.set('k', undefined))).toBe('DATA_INVALID')
    expect(await codeOf(state.set('k', 1, { ttl: 0 }))).toBe('OPTION_INVALID')
    expect(await codeOf(state.set('k', 1, { ttl: -1 }))).toBe('DURATION_INVALID')
    expect(await codeOf(state.set('k', 1, { expect: -1 }))).toBe('OPTION_INVALID')
    expect(await codeOf(state.set('k', 1, { expects: 1 } as object))).toBe('OPTION_INVALID')
    expect(await codeOf(state.set('k', Uint8Array.of(1, 2, 3), { expect: 7 }))).toBe('STATE_CHANGED')
    expect((await store.head()).seq).toBe(seq)
    expect((await store.blobs.list()).items).toEqual([])
  })
})
