// A live tail that keeps what it saw until the test ends.

import type { Store } from '../../src/index.ts'
import { later } from '../support/engines.ts'

/** Follows the journal and keeps what it saw. */
export function follow(store: Store): number[] {
  const seqs: number[] = []
  const ending = new AbortController()
  const tail = (async () => {
    for await (const { seq } of store.events({ live: true, signal: ending.signal })) seqs.push(seq)
  })()
  later(() => {
    ending.abort()
    return tail
  })
  return seqs
}

export const upTo = (seq: number): number[] => Array.from({ length: seq }, (_, i) => i + 1)
