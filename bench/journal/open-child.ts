// A process that opens one file, asks for the recent events and says how long that took: node open-child.ts <path>.

import { readFileSync } from 'node:fs'
import { open } from '../../src/index.ts'

export interface Opened {
  readonly ms: number
  /** What was read with system calls, where the system tells. */
  readonly readMiB: number | null
}

const read = (): number | undefined => {
  try {
    return Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

const before = read()
const start = performance.now()
const store = await open(process.argv[2] as string)
const recent = store.recent()
const ms = performance.now() - start
const after = read()
await store.close()
if (recent.length !== 100) throw new Error(`recent() gave ${recent.length} events`)
console.log(
  JSON.stringify({ ms, readMiB: before === undefined || after === undefined ? null : (after - before) / 2 ** 20 } satisfies Opened),
)
