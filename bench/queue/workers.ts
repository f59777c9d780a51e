// What the contestants have in common: workers who take one item after the other, and callers who offer them.

export interface Contestant {
  /** Makes so many items be there, all of them due; nothing of this is in a time. */
  fill(count: number): Promise<void>
  /** Items that wait or are claimed: none, once a turn is over. */
  left(): Promise<number>
}

/** A worker's day: claims an item and completes it, durably both times. False when it was given none. */
export type ClaimAndComplete = () => Promise<boolean>

/** So many workers at once, who do `count` items between them: items a second. */
export async function worked(workers: number, count: number, one: ClaimAndComplete): Promise<number> {
  let [begun, misses] = [0, 0]
  const start = performance.now()
  const worker = async () => {
    while (begun < count) {
      begun++
      // Another worker may be quicker, and whoever lost asks again. In a queue that has enough for everybody that does not go on for long.
      while (!(await one())) if (++misses > count) throw new Error('workers of the benchmark were given nothing from a queue that is full')
    }
  }
  await Promise.all(Array.from({ length: workers }, worker))
  return perSecond(count, start)
}

export const perSecond = (count: number, start: number): number => (count * 1000) / (performance.now() - start)

/** A turn on a full queue: filled and put in order before, and looked at afterwards, so that a rate counts only what was done. */
export async function fullTurn(
  contestant: Contestant,
  count: number,
  turn: (count: number) => Promise<number>,
  before: () => Promise<unknown> = async () => {},
): Promise<number> {
  await contestant.fill(count)
  await before()
  const rate = await turn(count)
  const left = await contestant.left()
  if (left > 0) throw new Error(`${left} of ${count} items of the benchmark are still in the queue`)
  return rate
}

/** `count` numbers in runs of at most `most`, each of which is asked for at once. */
export async function inChunks(count: number, most: number, chunk: (from: number, size: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += most) await chunk(from, Math.min(most, count - from))
}
