// A user's run that asks a model of the AI SDK inside an effect and keeps what the SDK returned.

import { generateText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { open } from 'inkfast'

const model = new MockLanguageModelV4({
  doGenerate: {
    content: [{ type: 'text', text: 'It is 31 degrees.' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 12, noCache: 12, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 5, text: 5, reasoning: undefined },
    },
    warnings: [],
  },
})

await using store = await open('ask.db')
await using _node = store.work({
  ask: async (run) => {
    const reply = await run.effect('ask', async () => (await generateText({ model, prompt: 'How warm is it?' })).response)
    const [message] = reply.messages
    return { at: reply.timestamp, role: message?.role, text: JSON.stringify(message?.content) }
  },
})
const handle = await store.start('ask', { session: 'weather/4711' })
console.log(JSON.stringify(await handle.result()))
