// A program that maintains memory until it is done or killed: `b` after each event that it wrote, `done` at the end.

import { writeSync } from 'node:fs'
import { open } from '../../src/index.ts'

const [url = '', entries = ''] = process.argv.slice(2)

const store = await open({ url, logger: false, memory: { scope: { entries: Number(entries) } } })
const after = (await store.page({ backwards: true, limit: 1 })).items[0]?.seq ?? 0
const tell = async () => {
  for await (const _ of store.events({ after, live: true })) writeSync(1, 'b\n')
}
const told = tell().catch(() => {})
await store.memory.maintain()
writeSync(1, 'done\n')
await store.close()
await told
