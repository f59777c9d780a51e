// A process that fills a journal: node build.ts <path> <events> <sessions>. Large commits through the public door, NORMAL, unredacted.

import { rmSync } from 'node:fs'
import { open } from '../../src/index.ts'
import { sessionKey } from './files.ts'
import { payload, TYPE } from './payload.ts'

const COMMIT = 2048

const [path, events, sessions] = [process.argv[2] as string, Number(process.argv[3]), Number(process.argv[4])]
for (const rest of ['', '-wal', '-shm']) rmSync(path + rest, { force: true })
const store = await open({ url: path, durability: 'normal', redact: false })
const made = await Promise.all(Array.from({ length: sessions }, (_, i) => store.session(sessionKey(i))))
const ids = made.map((session) => session.id)

// A fixed walk over all sessions that looks like chance: neighbours in time are rarely neighbours in an index.
let at = 0
const next = () => {
  at = (at + 3571) % ids.length
  return ids[at] as (typeof ids)[number]
}

for (let done = (await store.head()).seq; done < events; ) {
  const list = Array.from({ length: Math.min(COMMIT, events - done) }, (_, i) => ({ session: next(), type: TYPE, data: payload(done + i) }))
  done = (await store.appendAll(list)).at(-1)?.seq ?? events
}
const { seq } = await store.head()
await store.close()
console.log(JSON.stringify({ seq }))
