import { describe, expect, test } from 'vitest'
import { limits } from '../../model/limits.ts'
import { judge, type Times } from './clock.ts'

const HOUR = limits.clockProofMs
const NOON = 1_000 * HOUR
const DAY = 24 * HOUR

/** The file's times after processes have read these, one after the other. */
const after = (known: Times, ...read: readonly number[]): Times => read.reduce((times, at) => judge(times, at, 0), known)

test('a reading that goes on from the last is trusted', () => {
  expect(after({ trusted: NOON }, NOON + HOUR)).toEqual({ trusted: NOON + HOUR })
})

test('a leap is not trusted before so long has passed, from its first reading', () => {
  const leapt = { trusted: NOON, leap: NOON + DAY }
  expect(after({ trusted: NOON }, NOON + DAY)).toEqual(leapt)
  expect(after(leapt, NOON + DAY, NOON + DAY + HOUR - 1)).toEqual(leapt)
  expect(after(leapt, NOON + DAY + HOUR)).toEqual({ trusted: NOON + DAY + HOUR })
})

test('a process that comes once a day proves its last visit, and not the time since', () => {
  const first = after({ trusted: NOON }, NOON + 10 * DAY)
  expect(after(first, NOON + 11 * DAY)).toEqual({ trusted: NOON + 10 * DAY, leap: NOON + 11 * DAY })
})

test('a smaller reading is believed at once, and ends a leap', () => {
  const leapt = { trusted: NOON, leap: NOON + 400 * DAY }
  expect(after(leapt, NOON + 60_000)).toEqual({ trusted: NOON + 60_000 })
  expect(after(leapt, NOON + DAY)).toEqual({ trusted: NOON, leap: NOON + DAY })
  expect(after({ trusted: NOON + 400 * DAY }, NOON)).toEqual({ trusted: NOON })
})

test('however often two processes read, the one that is ahead is never trusted', () => {
  let times: Times = { trusted: NOON }
  for (let at = NOON; at < NOON + 3 * DAY; at += limits.clockLookMs) {
    times = after(times, at + 365 * DAY, at)
    expect(times).toEqual({ trusted: at })
    expect(judge(times, at + 365 * DAY, 0).trusted).toBe(at)
  }
})

describe('a process that goes on running', () => {
  test('does not leap when both of its clocks went on', () => {
    expect(judge({ trusted: NOON }, NOON + 30 * DAY, 30 * DAY)).toEqual({ trusted: NOON + 30 * DAY })
  })

  test('leaps when its wall clock was set, or when the machine slept', () => {
    expect(judge({ trusted: NOON }, NOON + 30 * DAY, HOUR)).toEqual({ trusted: NOON, leap: NOON + 30 * DAY })
  })
})
