// Threads of a session: created, found, listed by tenant and user, renamed, archived, deleted, and gone with their session.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const said = (id: string) => ({ id, role: 'user', parts: [{ type: 'text', text: id }] })

describe.each(engines)('threads on $name', ({ open }) => {
  test('a session has a default thread and others, listed with their counts', async () => {
    const store = await open()
    const session = await store.session('s', { owner: 'ada' })
    const other = await session.threads.create({ title: 'side question' })
    await session.thread.add([said('a'), said('b')])
    await other.add(said('c'))
    await session.thread.remove('a')
    const { items } = await session.threads.list()
    expect(items.map(({ title, user, messages, main, state }) => [title, user, messages, main ?? false, state])).toEqual([
      [undefined, 'ada', 1, true, 'open'],
      ['side question', 'ada', 1, false, 'open'],
    ])
    expect(items.every(({ lastAt }) => typeof lastAt === 'number')).toBe(true)
    expect((await session.threads.get(other.id))?.title).toBe('side question')
    expect((await other.info())?.messages).toBe(1)
    const again = await store.session('s')
    expect(await again.thread.get('b')).toEqual(said('b'))
    expect(again.thread.id).toBe(session.thread.id)
    await expectSound(store)
  })

  test('threads are listed by tenant and by user, a page at a time', async () => {
    const store = await open()
    const one = await store.session('one', { owner: 'ada' })
    const two = await store.session('two', { owner: 'bob' })
    const first = await one.threads.create({ title: '1' })
    await two.threads.create({ title: '2' })
    await two.threads.create({ title: '3', user: 'ada' })
    const titles = async (options?: object) => (await store.threads.list(options)).items.map(({ title }) => title)
    expect(await titles()).toEqual(['3', '2', '1'])
    expect(await titles({ user: 'ada' })).toEqual(['3', '1'])
    expect(await titles({ user: 'ada', state: 'archived' })).toEqual([])
    const page = await store.threads.list({ last: 2 })
    expect((await store.threads.list({ last: 2, cursor: page.cursor ?? '' })).items.map(({ title }) => title)).toEqual(['1'])
    expect((await store.threads.get(first.id))?.title).toBe('1')
    expect(await one.threads.get((await two.threads.create()).id)).toBeUndefined()
    expect((await store.tenant('else').threads.list()).items).toEqual([])
    expect(await codeOf(store.threads.list({ state: 'gone' as never }))).toBe('RANGE_INVALID')
    await expectSound(store)
  })

  test('an archived thread takes no messages until it is reopened, and a deleted one is hidden', async () => {
    const store = await open()
    const session = await store.session('s')
    const other = await session.threads.create({ title: 't' })
    await other.add(said('a'))
    await other.rename('renamed')
    expect(other.title).toBe('renamed')
    await session.threads.archive(other.id)
    expect(await codeOf(other.add(said('b')))).toBe('THREAD_CLOSED')
    expect(await codeOf(other.remove('a'))).toBe('THREAD_CLOSED')
    expect(await other.messages()).toHaveLength(1)
    await other.reopen()
    await other.add(said('b'))
    await other.delete()
    expect(await session.threads.get(other.id)).toBeUndefined()
    expect((await session.threads.list()).items).toEqual([])
    expect((await session.threads.list({ state: 'deleted' })).items).toHaveLength(1)
    expect(await codeOf(other.rename('x'))).toBe('THREAD_CLOSED')
    await session.thread.rename('main')
    expect((await session.threads.list()).items.map(({ title }) => title)).toEqual(['main'])
    const unknown = await (await store.session('else')).threads.create()
    expect(await codeOf(session.threads.rename(unknown.id, 'x'))).toBe('THREAD_UNKNOWN')
    await expectSound(store)
  })

  test('an archived session refuses messages, and a deleted one leaves no text behind', async () => {
    const store = await open()
    const session = await store.session('s')
    await session.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'the-words-said' }] })
    await session.archive()
    expect(await codeOf(session.thread.add(said('n')))).toBe('SESSION_ARCHIVED')
    await session.reopen()
    await session.delete({ reason: 'over' })
    expect((await store.threads.list()).items).toEqual([])
    expect(await codeOf(session.thread.messages())).toBe('SESSION_DELETED')
    for await (const event of store.events()) expect(JSON.stringify(event)).not.toContain('the-words-said')
    await expectSound(store)
  })

  test('many callers add to one thread at once, and each message is there once', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const names = Array.from({ length: 50 }, (_, i) => `m${i}`)
    await Promise.all(names.map((id) => thread.add(said(id))))
    expect((await thread.messages({ last: 100 })).map(({ id }) => id).sort()).toEqual([...names].sort())
    expect((await thread.info())?.messages).toBe(50)
    await expectSound(store)
  })
})
