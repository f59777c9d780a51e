// A place in memory for what comes and goes by the thousand: flushes are asked for there as anywhere, and take no time.

import { statfsSync } from 'node:fs'

const PLACE = '/dev/shm'
const ROOM = 4 * 2 ** 30

/** Undefined where there is none, or too little of it. */
export function placeInMemory(): string | undefined {
  if (process.platform !== 'linux' || process.availableMemory() < ROOM) return undefined
  const { bavail, bsize } = statfsSync(PLACE)
  return bavail * bsize >= ROOM ? PLACE : undefined
}
