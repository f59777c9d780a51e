// Numbers and times as people read them, the same in every command and on every machine.

const THOUSANDS = /\B(?=(\d{3})+$)/g

export const count = (n: number): string => String(Math.round(n)).replace(THOUSANDS, ',')

/** `one(1, 'event')` is '1 event', `one(2, 'event')` is '2 events'. */
export const one = (n: number, noun: string, several = `${noun}s`): string => `${count(n)} ${n === 1 ? noun : several}`

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = n
  let unit = ''
  for (unit of units) {
    value /= 1000
    if (value < 999.95) break
  }
  return `${value.toFixed(1)} ${unit}`
}

export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`
  if (ms < 48 * 3_600_000) return `${Math.floor(ms / 3_600_000)} h`
  return `${Math.floor(ms / 86_400_000)} d`
}

/** `in 2 h`, `3.2 s ago`. */
export const fromNow = (at: number, now: number): string => (at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`)

/** UTC, to the second; the exact time is in --json. */
export const time = (ms: number): string => (isTime(ms) ? new Date(ms).toISOString().slice(0, 19).replace('T', ' ') : `${ms}`)

// A damaged file may contain any integer; a Date cannot hold all of them.
const isTime = (ms: number): boolean => Number.isFinite(ms) && Math.abs(ms) <= 8.64e15

export const shortHash = (hash: string): string => `${hash.slice(0, 12)}…`

/** The end of a ULID: its beginning is a time, which neighbours share. */
export const shortId = (id: string): string => `…${id.slice(-8)}`

export const padded = (n: number, columns: number): string => count(n).padStart(columns)
