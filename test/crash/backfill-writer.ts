// A program that embeds the items of memory until it is done or killed: `b` before each batch is answered, `done` at the end. The control
// `careless` cannot embed one text, and embeds another twice.

import { writeSync } from 'node:fs'
import { open } from '../../src/index.ts'
import { embedder } from './backfill-embedder.ts'

const [url = '', mode = 'honest'] = process.argv.slice(2)

const model = embedder((texts) => {
  writeSync(1, 'b\n')
  return mode === 'careless' ? texts.map((text) => (text.startsWith('note 7 ') ? [0, 0, 0] : undefined)) : []
})
const store = await open({ url, embedder: model, logger: false })
await store.memory.backfill()
if (mode === 'careless') {
  const [item] = (await store.memory.list({ last: 1 })).items
  if (item) await store.memory.update(item.id, { text: 'another text' })
  await store.memory.backfill()
}
writeSync(1, 'done\n')
await store.close()
