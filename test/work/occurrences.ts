// What came of the times of a job, and working off what they left in the queue q.

import type { Store } from '../../src/index.ts'

export const statesOf = async (store: Store, name: string) =>
  (await store.cron.occurrences(name, { last: 1000 })).items.map(({ state }) => state).reverse()

/** Claims whatever is there, and completes it. */
export async function workOff(store: Store): Promise<number> {
  for (let done = 0; ; done++) {
    const claim = await store.queue('q').claim()
    if (!claim) return done
    await claim.complete()
  }
}
