// A process that walks one journal and says how fast, and what its memory did: node verify-child.ts <path> ours|raw.

import { DatabaseSync } from 'node:sqlite'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sha256 } from '../../src/backends/sqlite/sha256.ts'
import { open } from '../../src/index.ts'
import { sameBytes } from '../../src/model/bytes.ts'
import { eventDigest, GENESIS, linkHash, payloadDigest } from '../../src/model/chain.ts'
import type { EventClass } from '../../src/model/event.ts'
import { readId } from '../../src/model/ids.ts'

export interface Verified {
  readonly eventsPerSecond: number
  /** What was held over the last tenths, less what was held over the first ones: medians of three, since buffers come and go. */
  readonly grownMiB: number
  readonly residentMiB: number
}

const MIB = 2 ** 20
const [path, how] = [process.argv[2] as string, process.argv[3]]
console.log(JSON.stringify(how === 'raw' ? await raw() : await ours()))

function middle(three: readonly number[]): number {
  return three.toSorted((a, b) => a - b)[1] as number
}

async function ours(): Promise<Verified> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held: number[] = []
  let resident = 0
  let sampling = 0
  let tenth = 2
  await using store = await open(path)
  const start = performance.now()
  const report = await store.verify({
    progress: (done, of) => {
      if (done * 10 < of * tenth) return
      const began = performance.now()
      tenth++
      resident = Math.max(resident, process.memoryUsage.rss())
      collect()
      // Buffers are given back when the collector finds the time, so they come and go; what stays shows in the heap.
      held.push(process.memoryUsage().heapUsed)
      sampling += performance.now() - began
    },
  })
  const seconds = (performance.now() - start - sampling) / 1000
  if (!report.intact) throw new Error(`the journal is broken at ${report.brokenAt}: ${report.reason}`)
  return {
    eventsPerSecond: report.events / seconds,
    grownMiB: (middle(held.slice(-3)) - middle(held.slice(0, 3))) / MIB,
    residentMiB: resident / MIB,
  }
}

async function raw(): Promise<Verified> {
  const db = new DatabaseSync(path)
  const page = db.prepare(`
    select seq, id, at, type, schema, class, actor, session, subject, payload, salt, digest, hash
    from events where tenant = 'main' and seq > ? order by seq limit 512`)
  const id = (bytes: unknown) => (bytes ? readId<never>(bytes as Uint8Array) : undefined)
  let last: Uint8Array = GENESIS
  let seq = 0
  const start = performance.now()
  for (;;) {
    const rows = page.all(seq)
    if (rows.length === 0) break
    for (const row of rows) {
      const header = {
        id: readId<'event'>(row.id as Uint8Array),
        at: row.at as number,
        type: row.type as string,
        schema: row.schema as number,
        class: row.class as EventClass,
        actor: row.actor as string,
        session: id(row.session),
        subject: id(row.subject),
      }
      const digest = payloadDigest(sha256, row.salt as Uint8Array, row.payload as string)
      const link = linkHash(sha256, last, row.seq as number, eventDigest(sha256, 'main', header, digest))
      if (!sameBytes(link, row.hash as Uint8Array)) throw new Error(`the journal is broken at ${row.seq}`)
      last = link
      seq = row.seq as number
    }
  }
  const seconds = (performance.now() - start) / 1000
  db.close()
  return { eventsPerSecond: seq / seconds, grownMiB: 0, residentMiB: 0 }
}
