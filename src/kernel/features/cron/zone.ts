// A time zone: the offset of its wall clocks from UTC, and when they are moved. Intl knows both; the zone of the machine does not matter.

import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'

const DAY = 86_400_000
// Clock changes lie a week apart or more (Boa Vista, October 2000, is the closest since 1970), so one look a day sees every change.
const STRETCH = 32 * DAY

/** A moment at which the wall clocks of a zone are moved. Offsets are wall clock minus UTC, in milliseconds. */
export interface Change {
  readonly at: number
  readonly before: number
  readonly after: number
}

export interface Surroundings {
  /** Every change from a month before until a month after, in order. */
  readonly changes: readonly Change[]
  /** The instant up to which the changes are known. */
  readonly until: number
}

/** An IANA name, spelled as the machine spells it when only the case differs. */
export function takeZone(given: unknown): string {
  if (typeof given !== 'string') throw refuse('ZONE_UNKNOWN', { zone: given === null ? 'null' : typeof given })
  const spelled = zoneOf(given).spelled
  return spelled.toLowerCase() === given.toLowerCase() ? spelled : given
}

export const offsetAt = (zone: string, instant: number): number => zoneOf(zone).offset(instant)

export function changesAround(zone: string, instant: number): Surroundings {
  const known = zoneOf(zone)
  const place = Math.floor(instant / STRETCH)
  const near = known.near.get(place)
  if (near) return near
  const changes = [place - 1, place, place + 1].flatMap((each) => changesIn(known.offset, each * STRETCH))
  const found = { changes, until: (place + 2) * STRETCH }
  if (known.near.size >= limits.stretchesRemembered) known.near.clear()
  known.near.set(place, found)
  return found
}

interface Zone {
  readonly spelled: string
  readonly offset: (instant: number) => number
  readonly near: Map<number, Surroundings>
}

const zones = new Map<string, Zone>()

function zoneOf(name: string): Zone {
  const known = zones.get(name)
  if (known) return known
  // Intl accepts offsets such as +01:00 too. They are not zones, and other programs that read the schedule may not know them.
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) throw refuse('ZONE_UNKNOWN', { zone: name.slice(0, 80) })
  const format = formatOf(name)
  const made = {
    spelled: format.resolvedOptions().timeZone,
    offset: (instant: number) => readOffset(format.format(instant)),
    near: new Map(),
  }
  if (zones.size >= limits.zonesRemembered) zones.clear()
  zones.set(name, made)
  return made
}

function formatOf(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  } catch (error) {
    throw refuse('ZONE_UNKNOWN', { zone: zone.slice(0, 80) }, error)
  }
}

/** Reads the offset from a text such as `1/31/2026, GMT+05:30`. Some zones of the past have seconds. */
function readOffset(text: string): number {
  const [, sign, hours, minutes, seconds] = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? unreadable(text)
  const size = Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * 60_000 + Number(seconds ?? 0) * 1000
  return sign === '-' ? -size : size
}

function unreadable(text: string): never {
  throw new Error(`Intl told the offset of a zone as '${text}', which cannot be read`)
}

function changesIn(offset: (instant: number) => number, begin: number): readonly Change[] {
  const found: Change[] = []
  let before = offset(begin)
  for (let day = begin; day < begin + STRETCH; day += DAY) {
    const after = offset(day + DAY)
    if (after !== before) found.push({ at: momentOf(offset, before, day, day + DAY), before, after })
    before = after
  }
  return found
}

/** Finds the second at which the offset of `from` ends. It no longer holds at `to`. */
function momentOf(offset: (instant: number) => number, before: number, from: number, to: number): number {
  let [held, over] = [from, to]
  while (over - held > 1000) {
    const middle = held + Math.floor((over - held) / 2000) * 1000
    if (offset(middle) === before) held = middle
    else over = middle
  }
  return over
}
