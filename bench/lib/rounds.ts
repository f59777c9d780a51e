// Measuring several contestants in turns: A B C, A B C, … A neighbour's load then falls on all of them, and a ratio is taken within
// one round.

/** Every contestant once a round, with the first place going round; the first round warms up and is not counted. */
export async function interleave<Name extends string>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contestants) as Name[]
  const found = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round <= rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(round + i) % names.length] as Name
      const value = await contestants[name]()
      if (round > 0) found[name].push(value)
    }
  }
  return found
}

/** How many a second `callers` get done, each waiting for its answer before it asks again. */
export async function rate(callers: number, ms: number, one: (caller: number) => Promise<unknown>): Promise<number> {
  let done = 0
  const start = performance.now()
  const end = start + ms
  const call = async (caller: number) => {
    do {
      await one(caller)
      done++
    } while (performance.now() < end)
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
  return (done * 1000) / (performance.now() - start)
}

/** How long each of `count` calls took, in milliseconds, asked by `callers` at once. */
export async function latencies(callers: number, count: number, one: (i: number) => Promise<unknown>): Promise<number[]> {
  const found: number[] = []
  let next = 0
  const call = async () => {
    while (next < count) {
      const i = next++
      const start = performance.now()
      await one(i)
      found.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return found
}
