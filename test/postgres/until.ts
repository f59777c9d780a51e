// Waiting for something to become true, for as long as a busy machine may need and no longer.

import { setTimeout as sleep } from 'node:timers/promises'

/** What fails while we wait has not come true yet. */
export async function until(what: string, holds: () => Promise<boolean> | boolean, ms = 20_000): Promise<void> {
  let last: unknown
  const ask = async () => {
    try {
      return await holds()
    } catch (error) {
      last = error
      return false
    }
  }
  for (const end = performance.now() + ms; !(await ask()); await sleep(5))
    if (performance.now() > end) throw new Error(`waited ${ms} ms in vain: ${what}`, { cause: last })
}
