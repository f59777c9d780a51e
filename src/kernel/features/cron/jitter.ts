// Jitter spreads occurrences that would start at the same moment. It follows from the job and the scheduled time alone, so that every node
// and every replay computes the same. It ends before the next occurrence, so that none overtakes another.

import { utf8 } from '../../../model/bytes.ts'
import type { JobPolicy, Schedule } from '../../../model/job.ts'
import type { Digest } from '../../../ports/environment.ts'
import { nextAfter } from './schedule.ts'

/** Maps a scheduled time to a number in [0, 1), always the same one. */
export type Chance = (time: number) => number

export function chanceOf(digest: Pick<Digest, 'sha256'>, job: string): Chance {
  return (time) => {
    const bytes = digest.sha256(utf8(`inkfast/jitter/${job}/${time}`))
    let sum = 0
    for (let i = 0; i < 6; i++) sum = sum * 256 + (bytes[i] as number)
    return sum / 2 ** 48
  }
}

/** When an occurrence starts: at its scheduled time plus its jitter. */
export function firesAt(schedule: Schedule, { jitter }: JobPolicy, time: number, chance: Chance): number {
  if (jitter === 0) return time
  const room = (nextAfter(schedule, time) ?? Number.POSITIVE_INFINITY) - time
  return time + Math.floor(chance(time) * Math.min(jitter, room))
}
