// One turn of a contestant: so many callers at once, each doing the same number of things one after the other.

/** Things a second, from the first caller's start to the last one's end. `one` does all that its caller has to do. */
export async function turn(callers: number, each: number, one: (caller: number) => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await Promise.all(Array.from({ length: callers }, (_, caller) => one(caller)))
  return (callers * each * 1000) / (performance.now() - start)
}

/** Refuses a rate whose work is not all there. */
export function expectAll(whose: string, found: number, done: number): void {
  if (found !== done) throw new Error(`${whose} did ${done} effects in this benchmark, and ${found} are recorded`)
}
