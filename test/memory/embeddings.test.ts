// Embeddings of items: backfill, pending items with their reason, the vector leg of recall, purges.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { meaning, model, TEXTS, texts } from './meaning-model.ts'

describe.each(engines)('embeddings of memory on $name', ({ open, openInTime }) => {
  test('an item is found by words at once, and by meaning after the backfill', async () => {
    const store = await open({ embedder: model() })
    for (const text of TEXTS) await store.memory.remember(text, { about: 'user/ada' })
    const words = await store.memory.recall('puppy', { about: 'user/ada' })
    expect([texts(words)[0], words.legs]).toEqual(['Bob has a puppy', ['words']])
    expect(await store.memory.embeddings()).toMatchObject({ embedder: { id: 'm', dimensions: 4 }, embedded: 0, pending: 3, failed: [] })
    expect(await store.memory.backfill()).toEqual({ embedded: 3, pending: 0, removed: 0 })
    expect(await store.memory.backfill(), 'nothing twice').toEqual({ embedded: 0, pending: 0, removed: 0 })
    const hits = await store.memory.recall('vehicle', { about: 'user/ada' })
    expect([texts(hits)[0], hits.legs, hits.degraded]).toEqual([TEXTS[0], ['words', 'vectors'], undefined])
    expect(hits[0]?.why.legs).toMatchObject([{ leg: 'vectors', rank: 1, score: expect.closeTo(1, 5) }])
    expect(await store.memory.recall('vehicle', { about: 'user/bob' })).toEqual([])
    expect((await store.collections.list()).items, 'the collection is the store’s own').toEqual([])
    await expectSound(store)
  })

  test('a changed text is embedded again, and a forgotten item loses its vector', async () => {
    const embedder = model()
    const store = await open({ embedder })
    const items = [await store.memory.remember(TEXTS[0] as string), await store.memory.remember(TEXTS[1] as string)]
    await store.memory.backfill()
    await store.memory.update(items[0]?.id as string, { text: 'Ada boils a kettle' })
    expect(texts(await store.memory.recall('vehicle')), 'the vector of the old text does not count').toEqual([])
    await store.memory.forget(items[1]?.id as string)
    expect(await store.memory.backfill()).toEqual({ embedded: 1, pending: 0, removed: 1 })
    expect(texts(await store.memory.recall('brew'))).toEqual(['Ada boils a kettle'])
    await expectSound(store)
  })

  test('a failed embedding stays pending with its reason, is never a zero vector, and is retried', async () => {
    const embedder = model()
    const store = await open({ embedder })
    for (const text of TEXTS) await store.memory.remember(text)
    embedder.fails = (given) => given.map((text) => (text.includes('puppy') ? [0, 0, 0, 0] : meaning(text)))
    const report = await store.memory.backfill()
    expect(report).toMatchObject({ embedded: 2, pending: 1, reason: expect.stringContaining('zeros') })
    const { seq } = await store.head()
    await store.memory.backfill()
    expect((await store.head()).seq, 'the same failure is not written twice').toBe(seq)
    expect(await store.memory.embeddings()).toMatchObject({ embedded: 2, pending: 1, failed: [{ why: expect.stringContaining('zeros') }] })
    embedder.fails = () => Promise.reject(new Error('away')) as never
    expect((await store.memory.recall('puppy')).degraded).toContain('embedder failed: away')
    embedder.fails = undefined
    expect(await store.memory.backfill()).toMatchObject({ embedded: 1, pending: 0 })
    expect((await store.memory.embeddings()).failed).toEqual([])
    await expectSound(store)
  })

  test('texts that an embedder refuses hold up no others, and one that is away is left alone', async () => {
    const embedder = model()
    const store = await open({ embedder })
    const words = ['puppy', 'puppy hound', ...Array.from({ length: 68 }, (_, i) => `tea ${i}`)]
    await store.memory.rememberAll(words.map((text) => ({ text })))
    embedder.fails = () => Promise.reject(new Error('away'))
    expect(await store.memory.backfill()).toEqual({ embedded: 0, pending: 70, removed: 0, reason: 'away' })
    expect(
      embedder.calls.map((call) => call.length),
      'one batch, and one text that shows that the embedder is away',
    ).toEqual([64, 1])
    expect((await store.memory.embeddings()).failed).toHaveLength(64)
    embedder.fails = (given) => (given.some((text) => text.includes('puppy')) ? Promise.reject(new Error('no dogs')) : undefined)
    expect(await store.memory.backfill()).toEqual({ embedded: 68, pending: 2, removed: 0, reason: 'no dogs' })
    expect(await store.memory.embeddings()).toMatchObject({ embedded: 68, pending: 2, failed: [{ why: 'no dogs' }, { why: 'no dogs' }] })
    await expectSound(store)
  })

  test('a backfill that is cut off goes on where it stopped', async () => {
    const embedder = model('m', { batch: 64 })
    const store = await open({ embedder })
    await store.memory.rememberAll(Array.from({ length: 70 }, (_, i) => ({ text: `note ${i} about tea` })))
    const cut = new AbortController()
    embedder.fails = () => {
      if (embedder.calls.length === 2) cut.abort()
      return undefined
    }
    expect(await codeOf(store.memory.backfill({ signal: cut.signal }))).toBe('ABORTED')
    expect((await store.memory.embeddings()).embedded).toBe(64)
    embedder.fails = undefined
    expect(await store.memory.backfill()).toEqual({ embedded: 6, pending: 0, removed: 0 })
    expect(embedder.calls.map((call) => call.length)).toEqual([64, 6, 6])
    await expectSound(store)
  })

  test('callers share a backfill, and one that gives up leaves it to the others', async () => {
    const embedder = model()
    const store = await open({ embedder })
    await store.memory.remember(TEXTS[0] as string)
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
    embedder.fails = () => {
      asked.resolve()
      return answer.promise
    }
    const [first, third] = [new AbortController(), new AbortController()]
    const calls = [
      store.memory.backfill({ signal: first.signal }),
      store.memory.backfill(),
      store.memory.backfill({ signal: third.signal }),
    ]
    await asked.promise
    first.abort()
    third.abort()
    const codes = [codeOf(calls[0] as Promise<unknown>), codeOf(calls[2] as Promise<unknown>)]
    expect(await Promise.all(codes)).toEqual(['ABORTED', 'ABORTED'])
    answer.resolve(undefined)
    expect(await calls[1]).toEqual({ embedded: 1, pending: 0, removed: 0 })
    expect(embedder.calls).toHaveLength(1)
    await expectSound(store)
  })

  test('an embedder that hangs leaves the words, and the answer says so', async () => {
    const embedder = model('m', { timeout: 20 })
    const store = await open({ embedder })
    await store.memory.remember(TEXTS[1] as string)
    await store.memory.backfill()
    embedder.fails = () => new Promise(() => {})
    const hits = await store.memory.recall('puppy')
    expect([texts(hits), hits.legs, hits.degraded]).toEqual([[TEXTS[1]], ['words'], 'embedder timed out'])
    // A recall waits two seconds for an embedder that may take longer, and 20 ms for this one.
    const patient = await open({ embedder: model('m', { embed: () => new Promise(() => {}) }) })
    const ended: string[] = []
    await Promise.all([
      patient.memory.recall('x').then(() => ended.push('patient')),
      store.memory.recall('x').then(() => ended.push('short')),
    ])
    expect(ended).toEqual(['short', 'patient'])
  })

  test('a purge erases the vectors too, and an item that changed meanwhile gets none', async () => {
    const embedder = model()
    const store = await open({ embedder })
    const { id } = await store.memory.remember(TEXTS[0] as string, { about: 'user/ada' })
    await store.memory.remember(TEXTS[1] as string, { about: 'user/bob' })
    await store.memory.backfill()
    await store.memory.purge({ about: 'user/ada' })
    for await (const event of store.events({ types: ['vector.put'] }))
      if (event.data) expect((event.data as { key: string }).key).not.toBe(id)
    expect(texts(await store.memory.recall('vehicle'))).toEqual([])
    // Purged between reading its text and storing its vector.
    const late = await store.memory.remember('Cleo drives a car', { about: 'user/cleo' })
    let purged = false
    embedder.fails = () => {
      if (purged) return undefined
      purged = true
      return store.memory.purge(late.id).then(() => undefined) as never
    }
    expect((await store.memory.backfill()).embedded).toBe(0)
    expect(texts(await store.memory.recall('vehicle'))).toEqual([])
    await expectSound(store)
  })

  test('the scheduler embeds within ten minutes', async () => {
    const embedder = model()
    const { store, pass } = await openInTime({ embedder })
    await store.memory.remember(TEXTS[0] as string)
    await pass(9 * 60_000)
    await store.cron.tick()
    expect((await store.memory.embeddings()).embedded).toBe(0)
    await pass(2 * 60_000)
    await store.cron.tick()
    await store.memory.backfill()
    expect((await store.memory.embeddings()).embedded).toBe(1)
    expect(embedder.calls).toHaveLength(1)
  })

  test('the scheduler embeds a changed text, and one that is remembered while others are embedded', async () => {
    const embedder = model()
    const { store, pass } = await openInTime({ embedder })
    const { id } = await store.memory.remember(TEXTS[0] as string)
    let second: Promise<unknown> | undefined
    embedder.fails = () => {
      second ??= store.memory.remember(TEXTS[1] as string)
      return second.then(() => undefined)
    }
    const later = async () => {
      await pass(11 * 60_000)
      await store.cron.tick()
    }
    const pending = async () => (await store.memory.embeddings()).pending
    await later()
    await expect.poll(() => embedder.calls.length).toBe(1)
    await expect.poll(pending).toBe(1)
    // The first pass may still be ending, and then it is the one that the clock finds.
    await expect
      .poll(async () => {
        await later()
        return pending()
      })
      .toBe(0)
    // A pass that finds nothing to do is the last one.
    const isOver = async () => {
      await later()
      return (await store.page({ types: ['work.completed'] })).items.length
    }
    await expect.poll(isOver).toBe(1)
    await store.memory.update(id, { text: 'Ada boils a kettle' })
    expect(await pending()).toBe(1)
    await later()
    await expect.poll(pending).toBe(0)
  })
})

test.each(engines)('the hash embedding has no vote, and without an embedder there is nothing to backfill, on $name', async ({ open }) => {
  const store = await open({ embedder: 'hash' })
  await store.memory.remember(TEXTS[0] as string)
  expect(await store.memory.backfill()).toMatchObject({ embedded: 1 })
  expect((await store.memory.recall('automobile')).legs).toEqual(['words'])
  // Only a weight that the caller names gives it one.
  const hits = await store.memory.recall('automobile', { weights: { vectors: 0.1 } })
  expect([hits.legs, hits[0]?.why.legs.map(({ leg }) => leg)]).toEqual([
    ['words', 'vectors'],
    ['words', 'vectors'],
  ])
  const voting = await open({ embedder: 'hash', memory: { weights: { vectors: 0.1 } } })
  await voting.memory.remember(TEXTS[0] as string)
  await voting.memory.backfill()
  expect((await voting.memory.recall('automobile')).legs).toEqual(['words', 'vectors'])
  expect((await voting.memory.recall('automobile', { weights: { vectors: 0 } })).legs).toEqual(['words'])
  expect(await codeOf((await open()).memory.backfill())).toBe('EMBEDDER_MISSING')
})
