// A session, a few facts, and the proof that they are still what was written.
//
// Run it after `npm run build` with: node examples/journal.ts [file]

import { open } from 'inkfast'

await using store = await open(process.argv[2] ?? ':memory:')
const session = await store.session('support/4711', { title: 'Order 4711' })

await session.append('message.received', { message: 'm1', role: 'user', text: 'Where is my order?' })
const call = await session.append('tool.called', {
  tool: 'orders',
  call: 'c1',
  arguments: { order: 4711, apiKey: 'sk-not-kept-4eC39HqLyjWDarjtT1' },
})
await session.append('tool.returned', { call: 'c1', result: { state: 'shipped' } }, { cause: call.id })

// The same key and the same body: written once, however often it is sent.
const answer = { message: 'm2', role: 'assistant', text: 'It left the warehouse this morning.' }
const first = await session.append('message.sent', answer, { key: 'reply-1' })
const again = await session.append('message.sent', answer, { key: 'reply-1' })
console.log(`sent once: ${first.seq === again.seq}`)

for await (const event of store.events({ session: session.id })) {
  console.log(`${event.seq} ${event.type} ${JSON.stringify(event.data)}`)
}

const { intact, events } = await store.verify({ receipts: [call, first] })
console.log(`${events} events, intact: ${intact}`)
if (!intact || first.seq !== again.seq) process.exitCode = 1
