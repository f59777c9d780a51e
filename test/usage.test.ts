// Usage is counted once, with the step that used it, and adds up by session, source, model and hour.

import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import type { Session, Store, TokenUsage, UsageGiven } from '../src/index.ts'
import { codeOf, expectSound, layouts } from './support/engines.ts'

const HOUR = 3_600_000
const BEGIN = 1_000_000 * HOUR

/** Counts each of these in a run of its own. */
async function use(session: Session, ...given: readonly UsageGiven[]): Promise<void> {
  await using run = await session.run('use', { key: crypto.randomUUID() })
  for (const one of given) await run.usage(one)
  await run.finish()
}

const GENERATED = {
  content: [{ type: 'text', text: 'hi' }],
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: { inputTokens: { total: 12, noCache: 6, cacheRead: 4, cacheWrite: 2 }, outputTokens: { total: 9, text: 3, reasoning: 6 } },
  warnings: [],
} satisfies Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

const clockAt = (start: number) => {
  let now = start
  return {
    clock: { now: () => now },
    pass: (ms: number) => {
      now += ms
    },
  }
}

const seqsOf = async (store: Store, type: string): Promise<readonly number[]> => {
  const seqs: number[] = []
  for await (const { seq } of store.events({ types: [type] })) seqs.push(seq)
  return seqs
}

describe.each(layouts)('usage ($name)', (engine) => {
  test('the usage object of the AI SDK is counted, whatever the provider leaves out', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const result = await generateText({ model: new MockLanguageModelV4({ doGenerate: async () => GENERATED }), prompt: 'hello' })
    await using run = await session.run('r')
    await run.usage(result.usage, { model: 'm', source: 'turn', costUsd: 0.5 })
    await run.usage({ ...result.totalUsage, model: 'total' })
    // Nothing but the reasoning is reported, or it is not part of the output.
    const unknown = { inputTokens: undefined, inputTokenDetails: {}, outputTokens: undefined, totalTokens: undefined }
    await run.usage({ ...unknown, outputTokenDetails: { reasoningTokens: 7, textTokens: undefined } }, { model: 'thinks' })
    await run.usage({ ...unknown, outputTokens: 3, outputTokenDetails: { reasoningTokens: 7 }, invented: 1 } as TokenUsage, {
      model: 'apart',
    })
    await run.usage({ ...unknown, inputTokenDetails: { noCacheTokens: 2, cacheReadTokens: 3 } }, { model: 'parts' })
    await run.usage({ ...unknown, outputTokenDetails: undefined }, { model: 'nothing' })
    await run.usage({ model: 'own', reasoningTokens: 5 })
    await run.usage({ model: 'own zero', outputTokens: 0, reasoningTokens: 5 })
    const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costNanoUsd: 0 }
    const counted = { ...none, inputTokens: 12, outputTokens: 9, cacheReadTokens: 4, cacheWriteTokens: 2, reasoningTokens: 6 }
    expect(run.ledger).toEqual([
      { source: 'turn', model: 'm', ...counted, costNanoUsd: 500_000_000 },
      { source: 'run', model: 'total', ...counted },
      { source: 'run', model: 'thinks', ...none, outputTokens: 7, reasoningTokens: 7 },
      { source: 'run', model: 'apart', ...none, outputTokens: 7, reasoningTokens: 7 },
      { source: 'run', model: 'parts', ...none, inputTokens: 5, cacheReadTokens: 3 },
      { source: 'run', model: 'own', ...none, outputTokens: 5, reasoningTokens: 5 },
      { source: 'run', model: 'own zero', ...none, outputTokens: 5, reasoningTokens: 5 },
    ])
    for (const wrong of [
      () => run.usage({ inputTokens: 1 } as never),
      () => run.usage({ inputTokens: 1, misspelt: 2 } as never, { model: 'm' }),
      () => run.usage({ ...unknown, outputTokenDetails: { reasoningTokens: 0.5 } }, { model: 'm' }),
      () => run.usage({ ...unknown, outputTokenDetails: { reasoningTokens: '7' } } as never, { model: 'm' }),
    ])
      expect(await codeOf(wrong())).toBe('USAGE_INVALID')
    await run.close()
    await using again = await session.run('r')
    await again.usage(result.usage, { model: 'm', source: 'turn', costUsd: 0.5 })
    expect(again.ledger).toHaveLength(7)
    expect(await store.usage({ session: 's', by: [] })).toMatchObject([{ reasoningTokens: 6 + 6 + 7 + 7 + 5 + 5 }])
    await expectSound(store)
  })

  test('usage adds up by session, source and model, and groups as asked', async () => {
    const store = await engine.open()
    const [a, b] = [await store.session('a'), await store.session('b')]
    await use(a, { model: 'm', source: 'turn', inputTokens: 5, costUsd: 0.001 }, { model: 'm', source: 'tool', outputTokens: 3 })
    await use(a, { model: 'm', source: 'turn', inputTokens: 7 }, { model: 'n', source: 'turn', inputTokens: 1 })
    await use(b, { model: 'm', source: 'turn', inputTokens: 100, outputTokens: 9, reasoningTokens: 9 })
    expect(await store.usage({ session: a.id, by: ['source', 'model'] })).toMatchObject([
      { source: 'tool', model: 'm', inputTokens: 0, outputTokens: 3 },
      { source: 'turn', model: 'm', inputTokens: 12, outputTokens: 0, costNanoUsd: 1_000_000 },
      { source: 'turn', model: 'n', inputTokens: 1 },
    ])
    expect(await store.usage()).toMatchObject([{ outputTokens: 3 }, { inputTokens: 112 }, { inputTokens: 1 }])
    const sums = [
      {
        model: 'm',
        inputTokens: 112,
        outputTokens: 12,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 9,
        costNanoUsd: 1_000_000,
      },
      { model: 'n', inputTokens: 1, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costNanoUsd: 0 },
    ]
    expect(await store.usage({ by: ['model'] })).toEqual(sums)
    expect(await store.usage({ by: [] })).toMatchObject([{ inputTokens: 113 }])
    expect(await store.usage({ by: ['session'] })).toMatchObject([
      { session: a.id, inputTokens: 13 },
      { session: b.id, inputTokens: 100 },
    ])
    for (const wrong of [{ by: ['tenant'] }, { by: 'model' }, { by: ['model', 'model'] }])
      expect(await codeOf(store.usage(wrong as never))).toBe('OPTION_INVALID')
    expect(await codeOf(store.usage({ session: 5 as never }))).toBe('ID_INVALID')
    expect(await codeOf(store.usage({ since: 'today' as never }))).toBe('RANGE_INVALID')
    await expectSound(store)
  })

  test('usage is kept per UTC hour, and since and until cover whole hours', async () => {
    const { clock, pass } = clockAt(BEGIN + 10)
    const store = await engine.open({ clock })
    const session = await store.session('s')
    for (const inputTokens of [1, 10, 100]) {
      await use(session, { model: 'm', inputTokens })
      pass(HOUR)
    }
    const input = async (query: object) => (await store.usage({ by: [], ...query })).map(({ inputTokens }) => inputTokens)
    expect(await input({})).toEqual([111])
    expect(await input({ since: BEGIN + HOUR + 5 })).toEqual([110])
    expect(await input({ until: BEGIN + HOUR })).toEqual([1])
    expect(await input({ until: BEGIN + HOUR + 1 })).toEqual([11])
    expect(await input({ session: session.id, since: new Date(BEGIN + HOUR), until: new Date(BEGIN + 2 * HOUR) })).toEqual([10])
    expect(await input({ since: BEGIN + 3 * HOUR })).toEqual([])
    expect(await store.usage({ by: ['hour'] })).toMatchObject([0, 1, 2].map((n) => ({ hour: BEGIN + n * HOUR })))
  })

  test('usage of a step is counted once, however often the run is taken up again', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    for (let attempt = 0; attempt < 3; attempt++) {
      await using run = await session.run('r')
      await run.usage({ model: 'm', inputTokens: 5 })
      await run.effect('step', () => 1)
    }
    expect(await store.usage()).toMatchObject([{ source: 'run', inputTokens: 5 }])
    expect(await seqsOf(store, 'usage.added')).toHaveLength(1)
    const { items } = await store.page({ types: ['usage.added'] })
    expect(items[0]).toMatchObject({ data: { session: session.id, model: 'm', inputTokens: 5 } })
    await expectSound(store)
  })

  test('usage counted by parallel runs of one session loses nothing', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await Promise.all(
      Array.from({ length: 8 }, async (_, key) => {
        await using run = await session.run('r', { key: String(key), parallel: true })
        for (let n = 0; n < 4; n++) await run.usage({ model: 'm', inputTokens: 1 })
        await run.finish()
      }),
    )
    expect(await store.usage()).toMatchObject([{ inputTokens: 32 }])
    await expectSound(store)
  })

  test('usage of a tenant is not seen by another tenant', async () => {
    const store = await engine.open()
    await use(await store.tenant('acme').session('s'), { model: 'm', inputTokens: 5 })
    expect(await store.usage()).toEqual([])
    expect(await store.tenant('acme').usage()).toMatchObject([{ inputTokens: 5 }])
  })

  test('usage stays when its session is deleted, and an erased entry keeps its counts and loses its labels', async () => {
    const store = await engine.open()
    const [gone, kept] = [await store.session('gone'), await store.session('kept')]
    await use(gone, { model: 'm', inputTokens: 5 })
    await use(kept, { model: 'secret name', source: 'turn', inputTokens: 7 }, { model: 'secret name', source: 'turn', inputTokens: 70 })
    await gone.delete({ reason: 'asked' })
    expect(await store.usage({ session: gone.id })).toMatchObject([{ source: 'run', model: 'm', inputTokens: 5 }])
    for (const seq of (await seqsOf(store, 'usage.added')).slice(1)) await store.erase({ seq, reason: 'asked' })
    expect(await store.usage({ session: kept.id })).toMatchObject([{ source: '', model: '', inputTokens: 77 }])
    await expectSound(store)
    await use(kept, { model: 'secret name', source: 'turn', inputTokens: 1 })
    expect(await store.usage({ session: kept.id, by: [] })).toMatchObject([{ inputTokens: 78 }])
    await expectSound(store)
  })

  test('usage whose sum is too large to be exact says so, and stops no run', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await use(session, { model: 'm', inputTokens: Number.MAX_SAFE_INTEGER })
    await use(session, { model: 'm', inputTokens: 1 }, { model: 'n', inputTokens: 2 })
    const large = { inputTokens: Number.MAX_SAFE_INTEGER, overflow: true }
    expect(await store.usage()).toMatchObject([large, { model: 'n', inputTokens: 2 }])
    expect(await store.usage({ by: [] })).toMatchObject([large])
    expect((await store.usage())[1]).not.toHaveProperty('overflow')
    await expectSound(store)
  })
})
