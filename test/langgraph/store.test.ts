// The store of memories, compared with LangGraph's own store in memory.

import { InMemoryStore } from '@langchain/langgraph-checkpoint'
import { describe, expect, it } from 'vitest'
import { InkfastStore } from '../../src/adapters/langgraph/index.ts'
import { engines } from '../support/engines.ts'

describe.each(engines)('the LangGraph store on $name', ({ open }) => {
  it('the store of memories answers as InMemoryStore does', async () => {
    const [ours, theirs] = [new InkfastStore(await open()), new InMemoryStore()]
    for (const memories of [ours, theirs]) {
      await memories.put(['users', 'ada'], 'units', { text: 'metric', weight: 3, tags: ['x'] })
      await memories.put(['users', 'ada'], 'a/b%', { text: 'slash', weight: 1 })
      await memories.put(['users', 'ada', 'deep'], 'units', { text: 'deep', weight: 5 })
      await memories.put(['other'], 'units', { text: 'other', weight: 4 })
      await memories.put(['users', 'ada'], 'units', { text: 'imperial', weight: 2 })
      await memories.put(['gone'], 'k', { n: 1 })
      await memories.delete(['gone'], 'k')
    }
    const textsOf = async (found: Promise<readonly { readonly value: Record<string, unknown> }[]>) =>
      (await found).map(({ value }) => value.text).toSorted()
    for (const search of [
      { filter: { weight: { $gte: 2, $lt: 5 } } },
      { filter: { text: 'slash' } },
      { filter: { text: { $in: ['deep', 'slash'] } } },
      { filter: { text: { $ne: 'deep' } } },
      {},
    ])
      expect(await textsOf(ours.search(['users'], search))).toEqual(await textsOf(theirs.search(['users'], search)))
    expect((await ours.search(['users'], { limit: 1, offset: 1 })).length).toBe(1)
    await ours.put(['usersx'], 'units', { text: 'a namespace that only begins alike' })
    expect((await ours.search(['users'])).length).toBe(3)
    const item = await ours.get(['users', 'ada'], 'units')
    expect(item).toMatchObject({ key: 'units', namespace: ['users', 'ada'], value: { text: 'imperial', weight: 2 } })
    expect(item && item.updatedAt >= item.createdAt).toBe(true)
    expect(await ours.get(['users', 'ada'], 'none')).toBeNull()
    for (const options of [{ prefix: ['users'] }, { suffix: ['deep'] }, { prefix: ['users', '*'], maxDepth: 2 }])
      expect((await ours.listNamespaces(options)).toSorted()).toEqual((await theirs.listNamespaces(options)).toSorted())
  })
})
