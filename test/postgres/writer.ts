// A node of its own: appends so many events to one tenant while it follows the journal live, until it has seen as many as there will be, and then
// tells what was acknowledged and what it saw.

import { open } from '../../src/index.ts'

const [url = '', tenant = '', name = '', events = '0', total = '0'] = process.argv.slice(2)
const AT_ONCE = 64

const store = await open({ url, logger: false })
const own = store.tenant(tenant)
const seen: number[] = []
const tail = (async () => {
  for await (const { seq } of own.events({ live: true })) if (seen.push(seq) === Number(total)) return
})()

const session = await own.session(name)
const acked: [n: number, seq: number, hash: string][] = []
let next = 0
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (next < Number(events)) {
      const n = next++
      const { seq, hash } = await session.append('task.done', { name, n })
      acked.push([n, seq, hash])
    }
  }),
)
await tail
await store.close()
process.stdout.write(JSON.stringify({ acked, seen }))
