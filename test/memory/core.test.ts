// Core memory on every engine: named blocks of a session or a user.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('core memory on $name', ({ open }) => {
  test('blocks are set, appended to, replaced and reset, with versions and history', async () => {
    const store = await open()
    const { core } = await store.session('s')
    expect(await core.get()).toEqual({ persona: '', human: '', scratchpad: '' })
    await core.set('human', 'Ada, engineer')
    await core.append('scratchpad', 'first')
    await core.append('scratchpad', 'second')
    expect(await core.replace('human', 'engineer', 'architect')).toMatchObject({ text: 'Ada, architect', version: 2, limit: 2000 })
    await core.set('goals', 'ship', { limit: 10 })
    expect(await core.get()).toEqual({ persona: '', human: 'Ada, architect', scratchpad: 'first\nsecond', goals: 'ship' })
    expect(await core.get('scratchpad')).toMatchObject({ name: 'scratchpad', version: 2, limit: 1000 })
    expect((await core.history('human')).map(({ version, text }) => [version, text])).toEqual([
      [1, 'Ada, engineer'],
      [2, 'Ada, architect'],
    ])
    await core.reset('human')
    expect((await core.get()).human).toBe('')
    await core.reset()
    expect(await core.get()).toEqual({ persona: '', human: '', scratchpad: '' })
    // A version that was read before the reset never matches what was set after it.
    expect(await codeOf(core.set('human', 'Bob', { expect: 1 }))).toBe('CORE_CHANGED')
    expect(await core.set('human', 'Bob', { expect: 3 })).toMatchObject({ version: 4 })
    expect((await core.history('human')).items).toEqual([...(await core.history('human'))])
    expect((await core.history('human')).slice(2).map(({ version, text }) => [version, text])).toEqual([
      [3, ''],
      [4, 'Bob'],
    ])
    expect(await core.set('constructor', 'x')).toMatchObject({ limit: 1000, version: 1 })
    await expectSound(store)
  })

  test('limits, versions and names are checked, and nothing is written', async () => {
    const store = await open()
    const { core } = await store.session('s')
    await core.set('goals', 'ship', { limit: 10 })
    const { seq } = await store.head()
    expect(await codeOf(core.set('persona', 'x'.repeat(2001)))).toBe('CORE_TOO_LONG')
    expect(await codeOf(core.append('goals', 'x'.repeat(10)))).toBe('CORE_TOO_LONG')
    // As it is stored: the secret is masked.
    expect(await codeOf(core.set('keys', 'password=abc12345678', { limit: 20 }))).toBe('CORE_TOO_LONG')
    expect(await codeOf(core.set('goals', 'go', { expect: 4 }))).toBe('CORE_CHANGED')
    expect(await codeOf(core.replace('goals', 'nothing', 'x'))).toBe('CORE_TEXT_NOT_FOUND')
    expect(await codeOf(core.set('not a name', 'x'))).toBe('OPTION_INVALID')
    expect(await codeOf(core.set('persona', 'x', { limit: 5000 }))).toBe('OPTION_INVALID')
    expect(await codeOf(core.set('human', 7 as never))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
    expect(await core.set('goals', 'go', { expect: 1 })).toMatchObject({ version: 2 })
  })

  test('a block whose versions were all erased is empty, and can be set again', async () => {
    const store = await open()
    const core = store.memory.core('user/ada')
    await core.set('human', 'Ada')
    await core.set('goals', 'ship', { limit: 10 })
    for (const { seq } of (await store.page({ types: ['core.set'] })).items) await store.erase({ seq, reason: 'asked to' })
    expect(await core.get()).toEqual({ persona: '', human: '', scratchpad: '' })
    expect(await core.history('human')).toMatchObject([{ version: 1 }])
    expect(await core.get('human')).toMatchObject({ text: '', limit: 2000, version: 1 })
    expect(await core.set('human', 'Ada, engineer')).toMatchObject({ limit: 2000, version: 2 })
    expect(await core.append('goals', 'x'.repeat(20))).toMatchObject({ limit: 1000 })
    expect(await core.get()).toMatchObject({ human: 'Ada, engineer', goals: 'x'.repeat(20) })
    await expectSound(store)
  })

  test('fifty writers that append at the same time lose nothing', async () => {
    const store = await open()
    const session = await store.session('s')
    const texts = Array.from({ length: 50 }, (_, i) => `line ${10 + i}`)
    await Promise.all(texts.map((text) => session.core.append('scratchpad', text)))
    expect((await session.core.get()).scratchpad?.split('\n').sort()).toEqual(texts)
    expect((await session.core.get('scratchpad')).version).toBe(50)
    await expectSound(store)
  })

  test('core memory of a session, named by its id, goes with the session', async () => {
    const store = await open()
    const session = await store.session('s')
    const named = store.memory.core(`session/${session.id}`)
    await named.set('goals', 'ship')
    expect((await session.core.get()).goals).toBe('ship')
    await session.delete({ reason: 'asked' })
    expect(await codeOf(named.get())).toBe('SESSION_DELETED')
    expect(await codeOf(named.set('goals', 'ship'))).not.toBe('no error')
    await expectSound(store)
  })

  test('a fork starts with core memory as it stood at the fork point, and a user has core memory of their own', async () => {
    const store = await open()
    const session = await store.session('s')
    await session.core.set('human', 'Ada')
    await session.core.set('human', 'Ada, engineer')
    await session.core.append('scratchpad', 'early')
    const { seq } = await store.head()
    await session.core.set('human', 'Bob')
    await session.core.reset('scratchpad')
    const fork = await session.fork({ at: seq })
    expect(await fork.core.get()).toMatchObject({ human: 'Ada, engineer', scratchpad: 'early' })
    expect((await fork.core.get('human')).version).toBe(2)
    await fork.core.set('human', 'Eve')
    expect((await session.core.get()).human).toBe('Bob')
    const user = store.memory.core('user/ada')
    await user.set('human', 'likes tea')
    expect((await store.memory.core('user/ada').get()).human).toBe('likes tea')
    expect((await session.core.get()).human).toBe('Bob')
    expect((await store.tenant('other').memory.core('user/ada').get()).human).toBe('')
    await expectSound(store)
  })
})
