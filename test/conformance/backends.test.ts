// Every promise of the backend port, on every backend we ship.

import { describe, expect, test } from 'vitest'
import { cases, randomWalk, runCase } from '../../src/conformance/index.ts'
import { engines, openFolder, openSqlite } from './support.ts'

describe.each(engines)('$name', ({ name, open, awaiting, skips = {} }) => {
  for (const one of cases) {
    const sentence = `${one.group}: ${one.name}`
    const run = awaiting.includes(one.name) ? test.fails : test
    run(sentence, async ({ skip }) => {
      const reason = skips[one.name]
      if (reason !== undefined) skip(reason)
      const result = await runCase(one, open)
      if (result.status === 'failed') throw result.error
      if (result.status === 'skipped') skip(result.reason)
    })
  }

  test('is asked for nothing that the suite does not have', () => {
    const known = new Set(cases.map((one) => one.name))
    expect([...awaiting, ...Object.keys(skips)].filter((sentence) => !known.has(sentence))).toEqual([])
  })

  test('skips only what it cannot have, and says why', async () => {
    const opened = await open()
    await opened.backend.close()
    await opened.dispose?.()
    const skipped = cases.filter((one) => one.needs && !opened[one.needs])
    expect(skipped.length > 0).toBe(name === 'memory' || name === 'pglite')
    for (const one of skipped)
      expect(await runCase(one, open)).toEqual({ status: 'skipped', reason: expect.stringMatching(/no (reopen|second)/) })
  })
})

test('every case has a name of its own', () => {
  expect(new Set(cases.map((one) => one.name)).size).toBe(cases.length)
})

test.each([
  ...[1, 2, 3, 4, 5, 6].map((seed) => ({ seed, what: 'SQLite', open: openSqlite })),
  ...[7, 8, 9].map((seed) => ({ seed, what: 'a folder of SQLite files', open: openFolder })),
])('walk $seed: $what goes the way of the oracle', async ({ seed, open }) => {
  const walk = await randomWalk({ seed, steps: 120, open })
  // A walk that met nothing would prove nothing.
  expect(walk.saved).toBeGreaterThan(100)
  expect(walk.refused).toBeGreaterThan(20)
  expect(walk.repeated).toBeGreaterThan(20)
})
