// Behind a transaction pooler everything works: a transaction is one round trip, what was prepared may be gone, and whoever cannot listen
// there looks for himself and says what to set.

import { Client } from 'pg'
import { expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { codeOf, expectSound, openIn, tempDatabase } from '../support/engines.ts'
import { startPooler } from './pooler.ts'
import { until } from './until.ts'

const EVENTS = 100

async function writeAndTail(nodes: readonly Store[]): Promise<void> {
  const ending = new AbortController()
  const seen = nodes.map((node) => {
    const seqs: number[] = []
    const tail = (async () => {
      for await (const { seq } of node.events({ live: true, signal: ending.signal })) seqs.push(seq)
    })()
    return { seqs, tail }
  })
  await Promise.all(
    nodes.map(async (node, i) => {
      const session = await node.session(`node/${i}`)
      await Promise.all(Array.from({ length: EVENTS }, (_, n) => session.append('task.done', { n }, n % 2 ? { key: `${i}-${n}` } : {})))
      await session.rename(`title ${i}`)
      expect((await node.sessions.list()).items.length).toBeGreaterThan(0)
    }),
  )
  const { seq } = await (nodes[0] as Store).head()
  expect(seq).toBe(nodes.length * (EVENTS + 2))
  for (const { seqs } of seen) await until('the tail has seen everything', () => seqs.length >= seq)
  ending.abort()
  for (const { seqs, tail } of seen) {
    await tail
    expect(seqs).toEqual(Array.from({ length: seq }, (_, i) => i + 1))
  }
}

test('two nodes write, read and tail over three connections that are lent by the transaction', async () => {
  const url = await tempDatabase()
  const pooler = await startPooler(url, { size: 3 })
  const nodes = [await openIn(pooler.url), await openIn(pooler.url)]
  await writeAndTail(nodes)
  for (const node of nodes) await expectSound(node)
  expect(pooler.transactions).toBeGreaterThan(20)
})

test('a node that cannot listen there says what to set, and one that is told where to listen is well', async () => {
  const url = await tempDatabase()
  const pooler = await startPooler(url, { size: 1 })
  const [deaf, hearing] = [await openIn(pooler.url), await openIn(pooler.url, { listenUrl: url })]
  await (await deaf.session('s')).append('task.done', {})
  await (await hearing.session('s')).append('task.done', {})
  await until('the one that listens elsewhere hears', async () => (await hearing.health()).why.every((why) => !why.includes('look')))
  await until('the other one knows that it hears nothing', async () =>
    /once a second only.*set listenUrl/.test((await deaf.health()).why.join()),
  )
  expect((await deaf.health()).status).toBe('degraded')
})

test('the pooler does what poolers do: what one client prepared stands in the way of another, and nobody hears anything', async () => {
  const pooler = await startPooler(await tempDatabase(), { size: 1 })
  const [one, other] = [new Client(pooler.url), new Client(pooler.url)]
  await Promise.all([one.connect(), other.connect()])
  let heard = 0
  one.on('notification', () => heard++)
  await one.query('listen inkfast')
  await one.query({ name: 'same', text: 'select 1' })
  expect(await codeOf(other.query({ name: 'same', text: 'select 2' }))).toBe('42P05')
  await other.query(`notify inkfast, 'something'`)
  await one.query('select 1')
  expect(heard).toBe(0)
  await Promise.all([one.end(), other.end()])
})
