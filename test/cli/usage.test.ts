// Usage at the terminal: tokens and costs of tenants and sessions.

import { expect, test } from 'vitest'
import { open, type Store } from '../../src/index.ts'
import { copyForEach, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

async function use(store: Store, key: string, model: string, inputTokens: number): Promise<void> {
  await using run = await (await store.session(key)).run('use', { key: model })
  await run.usage({ model, source: 'turn', inputTokens, costUsd: 0.5 })
  await run.finish()
}

const copy = copyForEach(async (url) => {
  await using store = await open({ url })
  await use(store, 'support/1', 'm-large', 812)
  await use(store, 'support/1', 'm-small', 7)
  await use(store, 'support/2', 'm-large', 100)
})

const cellsOf = (out: string): string[][] => lines(out).map((line) => line.trim().split(/ {2,}/))

test('inkfast usage shows tokens and costs by source and model, with a total', async () => {
  const { code, out, err } = await ink(['usage', copy.path])
  expect([code, err]).toEqual([0, ''])
  expect(cellsOf(out)).toEqual([
    ['source', 'model', 'input', 'output', 'cache read', 'cache write', 'reasoning', 'cost'],
    ['turn', 'm-large', '912', '0', '0', '0', '0', '$1.00'],
    ['turn', 'm-small', '7', '0', '0', '0', '0', '$0.50'],
    ['total', '919', '0', '0', '0', '0', '$1.50'],
  ])
})

test('inkfast usage groups by what is asked, filters by session and time, and prints JSON', async () => {
  const { items } = await inkJson(['usage', copy.path, '--session', 'support/1', '--by', 'model'])
  expect(items).toMatchObject([
    { tenant: 'main', model: 'm-large', inputTokens: 812, costNanoUsd: 500_000_000 },
    { tenant: 'main', model: 'm-small', inputTokens: 7 },
  ])
  expect((await inkJson(['usage', copy.path, '--by', 'hour', '--since', '2h'])).items.length).toBeGreaterThan(0)
  expect(await inkJson(['usage', copy.path, '--until', '2001-01-01'])).toEqual({ items: [] })
  expect((await ink(['usage', copy.path, '--until', '2001-01-01'])).err).toContain('No usage was counted.')
  expect((await ink(['usage', copy.path, '--by', 'tenant'])).code).toBe(2)
  expect((await ink(['usage', copy.path, '--session', 'nobody'])).code).toBe(3)
})
