// Changes of the embedder: texts from before it, another model, and the vectors of models that are not used any more.

import { expect, test } from 'vitest'
import { codeOf, expectSound, lentDatabase, openIn, tempFile } from '../support/engines.ts'
import { QUICK } from '../support/rounds.ts'
import { meaning, model, TEXTS, texts } from './meaning-model.ts'

test.skipIf(QUICK).each(['sqlite', 'postgres'])(
  'texts that were there before the embedder, and those of other processes, are embedded within ten minutes, on %s',
  async (engine) => {
    const url = engine === 'sqlite' ? tempFile() : await lentDatabase()
    const writer = await openIn(url)
    await writer.memory.remember(TEXTS[0] as string)
    const store = await openIn(url, { embedder: model(), memory: { every: '1s' } })
    const clocks = async () => (await store.page({ types: ['work.offered'] })).items
    await expect.poll(clocks).toHaveLength(1)
    const [waits] = (await clocks()).map(({ at, data }) => (data as { readonly at: number }).at - at)
    expect(waits).toBeLessThan(10 * 60_000)
    await expectSound(store)
  },
)

test.skipIf(QUICK).each(['sqlite', 'postgres'])(
  'maintenance drops the vectors of a model that is not used any more, and a dry run only counts, on %s',
  async (engine) => {
    const url = engine === 'sqlite' ? tempFile() : await lentDatabase()
    const before = await openIn(url, { embedder: model('old') })
    const [first] = await before.memory.rememberAll(TEXTS.map((text) => ({ text })))
    await before.memory.backfill()
    await before.close()
    const embedder = model('new')
    embedder.fails = (given) => given.map((text) => (text === TEXTS[0] ? [0, 0, 0, 0] : meaning(text)))
    const store = await openIn(url, { embedder })
    expect(await store.memory.backfill()).toMatchObject({ embedded: 2, pending: 1 })
    expect(await store.memory.maintain(), 'the new model is not complete').toMatchObject({ retired: 0 })
    await store.memory.forget(first?.id as string)
    const cleared = async () => (await store.page({ types: ['collection.cleared'] })).items.length
    expect([await store.memory.maintain({ dryRun: true }), await cleared()]).toMatchObject([{ retired: 1 }, 0])
    expect([await store.maintain(), await cleared()]).toMatchObject([{ memoryRetired: 1 }, 1])
    expect(await store.memory.maintain()).toMatchObject({ retired: 0 })
    await expectSound(store)
  },
)

test.skipIf(QUICK).each(['sqlite', 'postgres'])(
  'another model embeds everything again, and the vectors of the old one go when it is done, on %s',
  async (engine) => {
    const url = engine === 'sqlite' ? tempFile() : await lentDatabase()
    const before = await openIn(url, { embedder: model('old') })
    for (const text of TEXTS) await before.memory.remember(text)
    await before.memory.backfill()
    const name = 'inkfast/memory/4/1/old'
    expect(await codeOf((async () => before.vectors(name))())).toBe('OPTION_INVALID')
    expect(await codeOf(before.collections.drop(name))).toBe('OPTION_INVALID')
    const embedder = model('new')
    const store = await openIn(url, { embedder })
    const cleared = async () => (await store.page({ types: ['collection.cleared'] })).items.length
    expect(await store.memory.embeddings()).toMatchObject({ embedded: 0, pending: 3 })
    embedder.fails = (given) => given.map((text) => (text.includes('puppy') ? [0, 0, 0, 0] : meaning(text)))
    await store.memory.backfill()
    // The new model is not complete, so both serve, and the old one does not disturb it.
    expect(await before.memory.backfill()).toEqual({ embedded: 0, pending: 0, removed: 0 })
    expect([texts(await before.memory.recall('hound')), texts(await store.memory.recall('vehicle')), await cleared()]).toEqual([
      [TEXTS[1]],
      [TEXTS[0]],
      0,
    ])
    embedder.fails = undefined
    expect(await store.memory.backfill()).toMatchObject({ embedded: 1, pending: 0 })
    expect([texts(await store.memory.recall('hound')), await cleared()]).toEqual([[TEXTS[1]], 1])
    // The process with the old model goes on by words: it does not embed everything again, nor drop the newer vectors.
    await before.memory.remember('Dan feeds a hound')
    expect(await before.memory.backfill()).toMatchObject({ embedded: 0, pending: 4, reason: expect.stringContaining('another model') })
    expect((await before.memory.recall('hound')).legs).toEqual(['words'])
    expect([await cleared(), await store.memory.backfill()]).toEqual([1, { embedded: 1, pending: 0, removed: 0 }])
    await expectSound(store)
  },
)
