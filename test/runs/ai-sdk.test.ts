// What the AI SDK returns is the result of an effect as it is: members that are undefined are left out, and dates are texts.

import { generateText, type ModelMessage } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const tokens = (total: number) => ({ total, noCache: total, cacheRead: undefined, cacheWrite: undefined })

const modelOf = () =>
  new MockLanguageModelV4({
    doGenerate: {
      content: [{ type: 'text', text: 'hello' }],
      finishReason: { unified: 'stop', raw: undefined },
      usage: {
        inputTokens: tokens(3),
        outputTokens: { total: 5, text: 5, reasoning: undefined },
      },
      warnings: [],
      response: { id: 'r-1', timestamp: new Date(0), modelId: 'm' },
    },
  })

describe.each(engines)('an effect on $name', (engine) => {
  test('calls the model once, and returns its response the same way live and under replay', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const model = modelOf()
    const program = async (run: Run) => {
      const reply = await run.effect('ask', async () => (await generateText({ model, prompt: 'hi' })).response)
      const { usage, text } = await run.effect('more', async () => {
        const result = await generateText({ model, prompt: 'hi' })
        return { usage: result.usage, text: result.text }
      })
      const timestamp: string = reply.timestamp
      const messages: ModelMessage[] = reply.messages
      return { reply, timestamp, messages, usage, text }
    }
    const run = await session.run('r')
    const live = await program(run)
    await run.close()
    const replayed = await program(await session.run('r'))
    expect(model.doGenerateCalls).toHaveLength(2)
    expect(replayed).toEqual(live)
    // `toEqual` does not tell a member that is undefined from one that is not there.
    expect(JSON.stringify(replayed)).toBe(JSON.stringify(live))
    expect(Object.keys(live.reply.messages[0]?.content[0] ?? {})).not.toContain('providerExecuted')
    expect(live).toMatchObject({ timestamp: '1970-01-01T00:00:00.000Z', text: 'hello', usage: { inputTokens: 3, outputTokens: 5 } })
    expect(live.messages[0]).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'hello' }] })
    await expectSound(store)
  })
})
