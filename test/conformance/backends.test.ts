// Every promise of the backend port, on the backends that need no server, and random walks beside the oracle. PostgreSQL has a file of its own,
// so that both are done at once.

import { expect, test } from 'vitest'
import { cases, randomWalk } from '../../src/conformance/index.ts'
import { seeds } from '../support/rounds.ts'
import { keepsItsPromises } from './promises.ts'
import { engines, onServers, openFolder, openSqlite } from './support.ts'

for (const engine of engines.filter(({ name }) => !onServers.includes(name))) keepsItsPromises(engine)

test('every case has a name of its own', () => {
  expect(new Set(cases.map((one) => one.name)).size).toBe(cases.length)
})

test('every backend that is run on a server is one that is known', () => {
  expect(onServers.filter((name) => !engines.some((engine) => engine.name === name))).toEqual([])
})

test.each([
  ...seeds(1, 20).map((seed) => ({ seed, what: 'SQLite', open: openSqlite })),
  ...seeds(1, 10).map((seed) => ({ seed, what: 'a folder of SQLite files', open: openFolder })),
])('walk $seed: $what goes the way of the oracle', async ({ seed, open }) => {
  const walk = await randomWalk({ seed, steps: 120, open })
  // A walk that met nothing would prove nothing.
  expect(walk.saved).toBeGreaterThan(100)
  expect(walk.refused).toBeGreaterThan(20)
  expect(walk.repeated).toBeGreaterThan(20)
})
