import { expect, test } from 'vitest'
import type { Environment } from '../ports/environment.ts'
import { StoreTime } from './store-time.ts'

function timeAt(start: number) {
  const clock = { at: start, now: () => clock.at, monotonic: () => clock.at }
  const time = new StoreTime({ clock, logger: { warn: () => {} } } as unknown as Environment)
  /** The store, whose clock is `ahead` of ours, is asked and answers; each way takes so long. */
  const hear = (ahead: number, there: number, back: number) => {
    const asked = clock.at
    clock.at += there
    const told = clock.at + ahead
    clock.at += back
    time.learn(told, asked)
  }
  return { clock, time, hear }
}

test('before it has heard anything it is our own time', () => {
  const { time } = timeAt(1000)
  expect(time.now()).toBe(1000)
  expect(time.hasHeard).toBe(false)
})

test('it does not step back because an answer took longer than the last', () => {
  const { clock, time, hear } = timeAt(1000)
  let last = -Infinity
  for (const [there, back] of [
    [1, 1],
    [1, 40],
    [30, 1],
    [2, 9],
    [0, 0],
    [5, 5],
  ] as const) {
    hear(500, there, back)
    expect(time.now()).toBeGreaterThanOrEqual(last)
    expect(clock.at + 500 - time.now()).toBeLessThanOrEqual(1)
    last = time.now()
  }
})

test('it follows a store whose clock is set, forwards and back', () => {
  const { clock, time, hear } = timeAt(1000)
  for (const ahead of [500, 90_000, -90_000, 3, -3]) {
    hear(ahead, 1, 1)
    expect(Math.abs(clock.at + ahead - time.now())).toBeLessThanOrEqual(2)
  }
})

test('it begins anew when our own clock is set back while we wait', () => {
  const { clock, time } = timeAt(100_000)
  time.learn(100_500, 100_000)
  clock.at = 40_000
  time.learn(100_510, 100_001)
  expect(time.now()).toBe(100_510)
})

test('a clock that cannot be read changes nothing', () => {
  const { clock, time, hear } = timeAt(1000)
  hear(500, 0, 0)
  clock.now = () => {
    throw new Error('no battery')
  }
  expect(time.wallClock()).toBeUndefined()
  time.learn(9999, undefined)
  clock.now = () => clock.at
  expect(time.now()).toBe(1500)
})
