import { describe, expect, test } from 'vitest'
import { engines } from '../../../test/support/engines.ts'
import type { Environment } from '../../ports/environment.ts'
import { StoreTime } from './store-time.ts'

function timeAt(start: number) {
  const clock = { at: start, steady: 0, now: () => clock.at, monotonic: () => clock.steady }
  const pass = (ms: number) => {
    clock.at += ms
    clock.steady += ms
  }
  const time = new StoreTime({ clock, logger: { warn: () => {} } } as unknown as Environment)
  /** The store, whose clock is `ahead` of ours, is asked and answers; each way takes so long. */
  const hear = (ahead: number, there: number, back: number) => {
    const asked = time.ask()
    pass(there)
    const told = clock.at + ahead
    pass(back)
    time.learn(told, asked)
  }
  return { clock, time, hear, pass }
}

test('before it has heard anything it is our own time', () => {
  const { time } = timeAt(1000)
  expect(time.now()).toBe(1000)
  expect(time.hasHeard).toBe(false)
})

test('store time does not step back when an answer takes longer than the last', () => {
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

test('store time is in whole milliseconds, though the steady clock has finer ones', () => {
  const { clock, time, hear } = timeAt(1000)
  hear(500, 1, 1)
  clock.steady += 0.25
  const asked = time.ask()
  clock.steady += 7.5
  time.learn(clock.at + 490, asked)
  expect(Number.isInteger(time.now())).toBe(true)
})

test('store time follows a store whose clock is set, forwards and back', () => {
  const { clock, time, hear } = timeAt(1000)
  for (const ahead of [500, 90_000, -90_000, 3, -3]) {
    hear(ahead, 1, 1)
    expect(Math.abs(clock.at + ahead - time.now())).toBeLessThanOrEqual(2)
  }
})

test.each([-60_000, 3_600_000])('store time is right with the next answer when our own clock is set by %d ms meanwhile', (jump) => {
  const { clock, time, hear, pass } = timeAt(10_000_000)
  hear(500, 1, 1)
  const asked = time.ask()
  pass(1)
  const told = clock.at + 500
  clock.at += jump
  time.learn(told, asked)
  expect(Math.abs(told - time.now())).toBeLessThanOrEqual(1)
})

test('a clock that cannot be read changes nothing', () => {
  const { clock, time, hear } = timeAt(1000)
  hear(500, 0, 0)
  clock.now = () => {
    throw new Error('no battery')
  }
  time.learn(9999, time.ask())
  clock.now = () => clock.at
  expect(time.now()).toBe(1500)
})

describe.each(engines)('on $name', (engine) => {
  test('a store tells store time at once, as it heard it with its last commit', async () => {
    const { store, now, pass } = await engine.openInTime()
    for (const ms of [0, 7_200_000]) {
      await pass(ms)
      const before = await now()
      await store.appendAll([{ type: 'a.b', data: 1 }])
      const told = store.now()
      expect(Number.isInteger(told)).toBe(true)
      expect(told).toBeGreaterThanOrEqual(before)
      expect(told).toBeLessThanOrEqual(await now())
    }
  })
})
