// A user's program that needs both kinds of threads: it writes until the log is copied, and searches a large collection. Tests bundle it
// into one file, also of CommonJS, which cannot wait at its top.

import { statSync } from 'node:fs'
import { open } from 'inkfast'

const FILE = 'bundled.db'

async function main(): Promise<void> {
  let threads = 0
  process.on('worker', () => {
    threads++
  })
  const store = await open(FILE)
  const session = await store.session('one')
  const before = statSync(FILE).size
  const text = 'x'.repeat(20_000)
  for (let turn = 0; turn < 2; turn++) await Promise.all(Array.from({ length: 400 }, () => session.append('note.taken', { text })))
  const copying = threads

  const vector = (i: number) => Array.from({ length: 64 }, (_, k) => Math.sin(i * 7.1 + k * k * 1.3))
  const docs = store.vectors('docs', { dimensions: 64 })
  for (let at = 0; at < 20_000; at += 5000)
    await docs.upsert(Array.from({ length: 5000 }, (_, i) => ({ id: `d${at + i}`, vector: vector(at + i) })))
  const hits = await docs.search(vector(777), { top: 3 })
  const searching = threads - copying

  const { intact } = await store.verify()
  // The log went into the file while the store was open.
  const copied = statSync(FILE).size > before + 1_000_000
  const { why } = await store.health()
  await store.close()
  const complaints = why.filter((line) => /\blog\b/.test(line))
  console.log(JSON.stringify({ found: hits[0]?.id, intact, copied, copying, searching: searching > 0, complaints }))
}

void main()
