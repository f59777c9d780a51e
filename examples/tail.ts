// Two handles on one file, as two processes would have them: one writes, the other follows without a gap and without a repeat.
//
// Run it after `npm run build` with: node examples/tail.ts [file]

import { rm } from 'node:fs/promises'
import { open } from 'inkfast'

const file = process.argv[2] ?? 'tail-example.db'
await using writer = await open(file)
await using reader = await open(file)
const { seq: start } = await writer.head()
const total = 10

const stop = new AbortController()
const seen: number[] = []
const following = (async () => {
  for await (const event of reader.events({ after: start, types: ['page.fetched'], live: true, signal: stop.signal })) {
    seen.push((event.data as { page: number }).page)
    if (seen.length === total) stop.abort()
  }
})()

const session = await writer.session('crawl')
for (let page = 1; page <= total; page++) await session.append('page.fetched', { page })

// The tail has no end of its own: it stops, without an error, when its signal is aborted.
await following
console.log(`followed ${seen.join(' ')}`)
const complete = seen.every((page, i) => page === i + 1)
await reader.close()
await writer.close()
if (process.argv[2] === undefined) await rm(file)
if (!complete) process.exitCode = 1
