// How far the clock of a process may be trusted, where each process has its own: data is removed by its age up to there and not beyond.

export interface ClockTrust {
  /** What the clock shows. */
  readonly now: number
  /** The time by which data may be removed: `now`, unless the clock has leapt. */
  readonly trusted: number
  /** Present if it has leapt: it is trusted from then on, by itself, unless a smaller time is read until then. */
  readonly until?: number
}

const HOUR_MS = 3_600_000

/** What was found, and what to do about it. */
export function clockText({ now, trusted, until = now }: ClockTrust): { readonly found: string; readonly todo: string } {
  const time = (at: number): string => new Date(at).toISOString()
  const hours = Math.round((now - trusted) / HOUR_MS)
  return {
    found:
      `the clock of this process shows ${time(now)}, ${hours} h more than the newest time that the store is sure of: ` +
      `what became old after ${time(trusted)} is not removed, until ${time(until)} at the earliest`,
    todo: "If nobody used the store meanwhile, do nothing: removing goes on by itself. Otherwise compare this machine's clock with those of other processes.",
  }
}
