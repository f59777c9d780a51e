// Computes when a line runs in a zone, also on days on which the clocks are moved. Three rules (docs/decisions/0024):
//  1. A wall-clock time that happens twice runs the first time, and a line that runs in every hour around the change runs both times.
//  2. A time that does not happen runs at the first moment after the gap, and several such times make one run. A line that runs in every hour around
//     the change needs that only if the clock was not moved by whole hours: otherwise the next hour has the same minutes at the same moments.
//  3. A day that does not happen at all is like 30 February.

import type { Line } from './line.ts'
import { type Change, changesAround, offsetAt } from './zone.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
// Offsets lie between -12 and +14 hours, so no two wall clocks of a zone are further apart than this.
const REACH = 26 * HOUR

/** The first instant strictly after this one at which the line runs. */
export function nextOn(line: Line, zone: string, after: number): number | undefined {
  let from = Math.floor(after) + 1
  for (;;) {
    const { changes, until } = changesAround(zone, from)
    const past = changes.findLast(({ at }) => at <= from)
    const ahead = changes.find(({ at }) => at > from)
    if (past && isRepeat(line, past, from)) {
      from = past.at + past.before - past.after
      continue
    }
    if (past?.at === from && makesUp(line, past)) return from
    const offset = past?.after ?? ahead?.before ?? offsetAt(zone, from)
    const wall = line.next(from + offset - 1)
    if (wall === undefined) return undefined
    const time = wall - offset
    if (time < (ahead?.at ?? until)) return time
    // Goes on to the next change, or to shortly before the time that was found. No clock of this zone can show a time of the line before that.
    from = ahead?.at ?? Math.max(until, time - 2 * REACH)
  }
}

/** Whether this moment lies in the second passing of the same wall clock, which the line leaves out. */
const isRepeat = (line: Line, { at, before, after }: Change, instant: number): boolean =>
  instant < at + before - after && !runsThrough(line, at + after, at + before)

/** Whether the line runs at the moment of this change for times that were left out. */
function makesUp(line: Line, { at, before, after }: Change): boolean {
  const [begin, end] = [at + before, at + after]
  if ((end - begin) % HOUR === 0 && runsThrough(line, begin, end)) return false
  for (let wall = line.next(begin - 1); wall !== undefined && wall < end; ) {
    const day = Math.floor(wall / DAY) * DAY
    if (day < begin || end < day + DAY) return true
    wall = line.next(day + DAY - 1)
  }
  return false
}

/** Whether the line runs in every hour that these wall-clock times touch, and in the hours before and after them. */
function runsThrough({ hours }: Line, begin: number, end: number): boolean {
  for (let hour = Math.floor((begin - 1) / HOUR); hour <= Math.floor(end / HOUR); hour++) if (!hours[((hour % 24) + 24) % 24]) return false
  return true
}
