// Garbage collection deletes what nothing refers to, and nothing else, whatever is written meanwhile.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { chance } from '../../src/conformance/chance.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open as openStore, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'

const text = (seed: number, words = 60): string =>
  Array.from({ length: words }, (_, i) => `w${(seed * 7919 + i * 104_729) % 9973}`).join(' ')
const list = (seed: number, length: number) => Array.from({ length }, (_, i) => ({ role: 'user', content: text(seed * 1000 + i) }))

const isThere = async (store: Store, ref: string): Promise<boolean> => {
  try {
    await store.values.get(ref)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'VALUE_MISSING') return false
    throw error
  }
}

/** Writers beside collections without grace. Throws if content that is referred to cannot be read. */
async function writeAndCollect(store: Store, seed: number): Promise<void> {
  const dice = chance(seed)
  const session = await store.session('s')
  const live = new Map<string, { readonly value: readonly unknown[]; readonly seq: number }>()
  const refer = async (ref: string, value: readonly unknown[]): Promise<void> => {
    const { seq } = await session.append('note.made', { ref }, { refs: [ref] })
    live.set(ref, { value, seq })
  }
  const step = async (): Promise<void> => {
    const known = [...live]
    const [ref, entry] = known.length > 0 ? dice.pick(known) : []
    try {
      switch (dice.int(5)) {
        case 0: {
          const value = list(dice.int(6), 1 + dice.int(30))
          await refer(await store.values.put(value), value)
          return
        }
        case 1: {
          // Content that nobody refers to.
          await store.values.put(list(dice.int(1000), 5))
          return
        }
        case 2: {
          if (!ref || !entry) return
          const more = list(dice.int(6), 1 + dice.int(4))
          await refer(await store.values.append(ref, more), [...entry.value, ...more])
          return
        }
        case 3: {
          if (!ref || !entry) return
          live.delete(ref)
          await store.erase({ seq: entry.seq, reason: 'no longer needed' })
          return
        }
        default:
          if (ref && entry) await refer(await store.values.put(entry.value), entry.value)
      }
    } catch (error) {
      // With no grace, content may be collected between being put and being referred to. The store says so.
      if ((error as { code?: string }).code !== 'VALUE_MISSING') throw error
    }
  }
  for (let round = 0; round < 4; round++) {
    const writers = Array.from({ length: 3 }, async () => {
      for (let i = 0; i < 8; i++) await step()
    })
    const collections = (async () => {
      for (let i = 0; i < 3; i++) await store.collect({ grace: 0 })
    })()
    await Promise.all([...writers, collections])
    for (const [ref, { value }] of live) expect(await store.values.get(ref), `seed ${seed}`).toEqual(value)
  }
  await store.collect({ grace: 0 })
  for (const [ref, { value }] of live) expect(await store.values.get(ref), `seed ${seed}`).toEqual(value)
  const { retained } = await store.collect({ grace: 0, dryRun: true })
  expect(retained.nodes, 'nothing is kept that nothing refers to').toBe(retained.by.events)
  await expectSound(store)
}

describe.each(engines)('garbage collection on $name', ({ open, openInTime }) => {
  test('a value that an event, a pin or nothing refers to is kept, kept, and deleted', async () => {
    const store = await open()
    const session = await store.session('s')
    const [told, among, pinned, loose] = await Promise.all([1, 4, 2, 3].map((seed) => store.values.put(list(seed, 20))))
    if (!told || !among || !pinned || !loose) throw new Error('four refs')
    await session.append('note.made', { kept: told }, { refs: [told] })
    await store.appendAll([{ type: 'note.made', data: { kept: among }, refs: [among] }])
    await store.pin(pinned)
    const before = await store.collect({ dryRun: true, grace: 0 })
    expect(before.deleted.nodes).toBeGreaterThan(0)
    expect(await isThere(store, loose)).toBe(true)
    const { deleted, retained, complete } = await store.collect({ grace: 0 })
    expect({ deleted, complete }).toEqual({ deleted: before.deleted, complete: true })
    expect(retained.by).toEqual({ events: expect.any(Number), rows: expect.any(Number), recent: 0 })
    expect([await isThere(store, told), await isThere(store, pinned), await isThere(store, loose)]).toEqual([true, true, false])
    expect((await store.collect({ grace: 0 })).deleted).toEqual({ nodes: 0, blobs: 0, bytes: 0 })
    await store.unpin(pinned)
    await store.collect({ grace: 0 })
    expect([await isThere(store, told), await isThere(store, among), await isThere(store, pinned)]).toEqual([true, true, false])
    await expectSound(store)
  })

  test('a ref that looks like a token is stored as it is in events and pins', async () => {
    const store = await open({ redact: { keys: ['ref'] } })
    const session = await store.session('s')
    let ref = ''
    for (let i = 0; !/^value:[a-z]{2,8}[-_]/.test(ref); i++) ref = await store.values.put({ i })
    const { id } = await session.append('note.made', { state: ref }, { refs: [ref] })
    expect((await store.event(id))?.data).toEqual({ state: ref })
    await store.pin(ref)
    const { retained } = await store.collect({ grace: 0 })
    expect(retained.by).toEqual({ events: 1, rows: 0, recent: 0 })
    await store.erase({ seq: (await store.head()).seq - 1, reason: 'only the pin stays' })
    await store.collect({ grace: 0 })
    expect(await isThere(store, ref)).toBe(true)
    await expectSound(store)
  })

  test('a value is kept for a day after it was put, and again after a commit names it', async () => {
    const { store, pass } = await openInTime()
    const ref = await store.values.put(list(1, 20))
    const DAY = 24 * 60 * 60 * 1000
    await pass(DAY / 2)
    expect((await store.collect()).deleted.nodes).toBe(0)
    await pass(DAY / 2)
    expect(await store.values.put(list(1, 20))).toBe(ref)
    await pass(DAY / 2)
    expect((await store.collect()).deleted.nodes).toBe(0)
    await pass(DAY)
    expect((await store.collect()).deleted.nodes).toBeGreaterThan(0)
    expect(await isThere(store, ref)).toBe(false)
  })

  test('the erasure of an event removes its references', async () => {
    const store = await open()
    const session = await store.session('s')
    const ref = await store.values.put(list(1, 20))
    const { seq } = await session.append('note.made', { ref }, { refs: [ref] })
    await store.collect({ grace: 0 })
    expect(await isThere(store, ref)).toBe(true)
    await store.erase({ seq, reason: 'the person asked' })
    await store.collect({ grace: 0 })
    expect(await isThere(store, ref)).toBe(false)
  })

  test('a reference to a value that is not there is refused, and nothing is written', async () => {
    const store = await open()
    const session = await store.session('s')
    const { seq } = await store.head()
    const theirs = await store.tenant('other').values.put({ theirs: true })
    for (const ref of [`value:${'A'.repeat(43)}`, theirs]) {
      expect(await codeOf(session.append('note.made', {}, { refs: [ref] }))).toBe('VALUE_MISSING')
      expect(await codeOf(store.appendAll([{ type: 'note.made', data: {}, refs: [ref] }]))).toBe('VALUE_MISSING')
      expect(await codeOf(store.pin(ref))).toBe('VALUE_MISSING')
    }
    expect(await codeOf(session.append('note.made', {}, { refs: ['f'.repeat(64)] }))).toBe('BLOB_UNKNOWN')
    expect(await codeOf(store.appendAll([{ type: 'note.made', data: {}, refs: ['f'.repeat(64)] }]))).toBe('BLOB_UNKNOWN')
    expect(await codeOf(session.append('note.made', {}, { refs: ['nonsense'] }))).toBe('VALUE_REF_INVALID')
    expect((await store.head()).seq).toBe(seq)
  })

  test('a collection beside puts, appends, references and erasures deletes no reachable content', async () => {
    for (let seed = 1; seed <= rounds(3, 20); seed++) await writeAndCollect(await open(), seed)
  })

  test('a second collection replaces the first, which deletes nothing more', async () => {
    const store = await open()
    for (let i = 0; i < 5; i++) await store.values.put(list(i, 10))
    const answers = await Promise.allSettled([store.collect({ grace: 0 }), store.collect({ grace: 0 }), store.collect({ grace: 0 })])
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'COLLECTION_REPLACED' })
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true)
  })
})

/** Collects while an event begins to refer to old content, right before that content is removed. Tells whether the content is left. */
async function survives(removes: 'as it should' | 'blindly'): Promise<boolean> {
  const backend = memoryBackend(nodeEnvironment)
  const { values } = backend
  let meanwhile = async (): Promise<void> => {}
  const interrupted: Backend = {
    ...backend,
    values: {
      ...values,
      remove: async (tenant, number, ids, seen) => {
        await meanwhile()
        meanwhile = async () => {}
        const blind = removes === 'blindly' ? (await values.named(tenant, number)).length : seen
        return values.remove(tenant, number, ids, blind)
      },
    },
  }
  const store = await openStore({ backend: interrupted })
  const session = await store.session('s')
  const ref = await store.values.put(list(1, 20))
  meanwhile = async () => void (await session.append('note.made', { ref }, { refs: [ref] }))
  await store.collect({ grace: 0 })
  return isThere(store, ref)
}

test('a collection that was replaced while it marked does not take a value for damaged that the later one deleted', async () => {
  const backend = memoryBackend(nodeEnvironment)
  let meanwhile: (() => Promise<unknown>) | undefined
  const values: Backend['values'] = {
    ...backend.values,
    references: async (...asked) => {
      const found = await backend.values.references(...asked)
      const work = meanwhile
      meanwhile = undefined
      await work?.()
      return found
    },
  }
  const store = await openStore({ backend: { ...backend, values } })
  const session = await store.session('s')
  const ref = await store.values.put(list(1, 20))
  const { seq } = await session.append('note.made', { ref }, { refs: [ref] })
  meanwhile = async () => {
    await store.erase({ seq, reason: 'the person asked' })
    await store.collect({ grace: 0 })
  }
  expect(await codeOf(store.collect({ grace: 0 }))).toBe('COLLECTION_REPLACED')
  expect(await isThere(store, ref)).toBe(false)
})

test('content that an event refers to just before it would be removed is kept, and a collection that does not look deletes it', async () => {
  expect(await survives('as it should')).toBe(true)
  expect(await survives('blindly')).toBe(false)
})

test('a root that cannot be read ends the collection, and nothing is deleted', async () => {
  const memory = memoryBackend(nodeEnvironment)
  let isDamaged = false
  const values: Backend['values'] = {
    ...memory.values,
    get: async (tenant, refs) => {
      const found = await memory.values.get(tenant, refs)
      return isDamaged ? found.map((bytes) => bytes?.map((byte, i) => (i === 0 ? byte ^ 1 : byte))) : found
    },
  }
  await using store = await openStore({ backend: { ...memory, values }, schedule: false })
  const session = await store.session('s')
  const kept = await store.values.put(list(1, 20))
  await session.append('note.made', { kept }, { refs: [kept] })
  const loose = await store.values.put(list(2, 20))
  const before = (await store.measure()).rows
  isDamaged = true
  expect(await codeOf(store.collect({ grace: 0 }))).toBe('VALUE_DAMAGED')
  expect((await store.measure()).rows).toEqual(before)
  isDamaged = false
  expect([await isThere(store, kept), await isThere(store, loose)]).toEqual([true, true])
  await store.collect({ grace: 0 })
  expect([await isThere(store, kept), await isThere(store, loose)]).toEqual([true, false])
})
