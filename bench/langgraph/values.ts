// The same conversation through the values API: a message is one append, and the last messages are read without the others.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { median, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Measure } from '../lib/workload.ts'
import { textsFrom } from './graph.ts'

const EDGE = 20
const LAST = 40
/** Messages from one list that is read to the next. */
const APART = 2 * LAST

export async function growValues(folder: string, turns: number, empty: number): Promise<readonly Measure[]> {
  const file = join(folder, `values-${turns}.db`)
  const text = textsFrom(3)
  const times: number[] = []
  let raw = 0
  const refs: string[] = []
  {
    await using store = await open(file)
    let ref = await store.values.put([])
    for (let n = 0; n < 2 * turns; n++) {
      const message = { role: n % 2 ? 'assistant' : 'user', id: crypto.randomUUID(), content: text() }
      raw += JSON.stringify(message).length
      const start = performance.now()
      ref = await store.values.append(ref, [message])
      times.push(performance.now() - start)
      if ((n + 1) % APART === 0) refs.push(ref)
    }
  }
  const bytes = spread([(statSync(file).size - empty) / raw])
  const growing = spread([median(times.slice(-EDGE)) / median(times.slice(0, EDGE))])
  const reads: number[] = []
  {
    await using store = await open(file)
    // Each list ends in messages that were not read before, so they are not in memory.
    for (const ref of refs) {
      const start = performance.now()
      await store.values.slice(ref, -LAST)
      reads.push(performance.now() - start)
    }
  }
  const name = `values of ${number(turns)} turns`
  return [
    { what: `${name}, bytes beside raw text`, unit: '×', ours: bytes, goal: atMost(1.7, bytes) },
    { what: `${name}, last appends beside first`, unit: '×', ours: growing },
    { what: `${name}, last ${LAST} messages`, unit: 'ms', ours: spread(reads), goal: atMost(2, spread([median(reads)])) },
  ]
}
