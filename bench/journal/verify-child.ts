// A process that verifies one journal and says how fast, and what its memory did: node verify-child.ts <path>.

import { open } from '../../src/index.ts'

export interface Verified {
  readonly eventsPerSecond: number
  /** The most resident memory after a fifth of the journal, less what there was at that fifth. */
  readonly grownMiB: number
}

const MIB = 2 ** 20
await using store = await open(process.argv[2] as string)
let atFifth = 0
let most = 0
const start = performance.now()
const report = await store.verify({
  progress: (done, of) => {
    if (done * 5 < of) return
    const rss = process.memoryUsage.rss()
    if (atFifth === 0) atFifth = rss
    most = Math.max(most, rss)
  },
})
const seconds = (performance.now() - start) / 1000
if (!report.intact) throw new Error(`the journal is broken at ${report.brokenAt}: ${report.reason}`)
console.log(JSON.stringify({ eventsPerSecond: report.events / seconds, grownMiB: (most - atFifth) / MIB } satisfies Verified))
