// A user's program on another runtime: opens a store, appends, executes a run, reads, verifies, and folds the journal again.

import { InkError, open } from 'inkfast'

const store = await open('smoke.db')
const session = await store.session('support/4711')
const receipts = []
for (let n = 0; n < 20; n++) receipts.push(await session.append('note.taken', { n }))

let called = 0
const node = store.work({
  refund: async (run, input) => {
    const paid = await run.effect('pay', async () => {
      called++
      return { order: input.order, at: new Date(0) }
    })
    return paid
  },
})
const handle = await store.start('refund', { session: 'support/4711', input: { order: 4711 } })
const result = await handle.result()
await node.close()

const refused = await open('missing/folder/a.db').catch((error) => error)
const read = []
for await (const event of store.events({ session: session.id, types: ['note.*'] })) read.push(event.data.n)
const { intact } = await store.verify({ receipts })
const { differences } = await store.rebuild({ check: true })
await store.close()

const again = await open('smoke.db')
const kept = (await again.sessions.find('support/4711'))?.id === session.id
await again.close()
console.log(
  JSON.stringify({ called, result, refused: refused instanceof InkError && refused.code, read: read.length, intact, differences, kept }),
)
