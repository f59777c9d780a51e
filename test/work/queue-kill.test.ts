// Processes that work off a queue, and a job that comes up every second, are killed and paused at any moment until everything is done. What they
// did outside stands in a file of its own, and is held against the journal.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import type { Store } from '../../src/index.ts'
import type { Engine } from '../runs/crashing-backend.ts'
import { codeOf, expectSound, later, openIn, tempDatabase, tempFile, tempFolder } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { type Audit, audit } from './queue-audit.ts'
import { ITEMS, type Line, POISON } from './worker-items.ts'

const WORKER_PROCESS = programAt(new URL('./worker-process.ts', import.meta.url))
const LANES = 3
const BLOWS = rounds(2, 10)

const placeOf = async (engine: Engine): Promise<string> => (engine === 'sqlite' ? tempFile() : tempDatabase())

function start(...given: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [WORKER_PROCESS, ...given], { stdio: ['pipe', 'pipe', 'inherit'] })
  later(() => child.kill('SIGKILL'))
  return child
}

const wordsOf = (child: ChildProcess) => {
  const lines = createInterface(child.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]()
  return async () => JSON.parse((await lines.next()).value ?? '[]') as unknown[]
}

const ended = async (child: ChildProcess): Promise<string> => {
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return signal ?? String(code)
}

/** What happened to the worker processes. */
interface Fate {
  kills: number
  pauses: number
  /** Ended in another way than they were told to. */
  readonly odd: string[]
}

/** One worker process after the other: each is paused or killed some time after its start, except for the last, which works until the end. */
async function lane(url: string, outbox: string, index: number, fate: Fate, until: Promise<void>): Promise<void> {
  const { int } = chance(SEED + index)
  for (let blows = 0; ; ) {
    const child = start(url, outbox, 'work')
    const end = ended(child)
    await Promise.race([wordsOf(child)(), end])
    for (let alive = true; alive && blows < BLOWS; blows++) {
      await Promise.race([wait(50 + int(400)), end])
      if (child.exitCode !== null || child.signalCode !== null) break
      if ((blows + index) % 2 === 0) {
        fate.pauses++
        child.kill('SIGSTOP')
        await wait(700 + int(300))
        child.kill('SIGCONT')
      } else {
        fate.kills++
        child.kill('SIGKILL')
        alive = false
        await end
      }
    }
    if (child.signalCode === null && child.exitCode === null) {
      const done = await Promise.race([until.then(() => 'told' as const), end])
      if (done === 'told') child.stdin?.write('end\n')
    }
    const how = await end
    if (how === '0') return
    if (child.signalCode !== 'SIGKILL') fate.odd.push(how)
  }
}

/** Killed once in the middle, it offers everything again. */
async function offerAll(url: string, outbox: string, fate: Fate): Promise<void> {
  const first = start(url, outbox, 'offer')
  const end = ended(first)
  await wordsOf(first)()
  await wait(20)
  first.kill('SIGKILL')
  fate.kills++
  await end
  const how = await ended(start(url, outbox, 'offer'))
  if (how !== '0') fate.odd.push(`offering ended with ${how}`)
}

const isDrained = async (store: Store, queue: string): Promise<boolean> => {
  const { ready, delayed, claimed } = await store.queue(queue).stats()
  return ready + delayed + claimed === 0
}

const linesOf = (outbox: string): readonly Line[] =>
  (existsSync(outbox) ? readFileSync(outbox, 'utf8') : '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)

/** What was done outside and what the journal says, held against each other. */
function disagreements(lines: readonly Line[], { completed, offered }: Audit): readonly string[] {
  const wrong: string[] = []
  const began = new Set(lines.filter(({ what }) => what === 'began' || what === 'ticked').map(({ id }) => id))
  for (const id of completed.keys()) if (!began.has(id)) wrong.push(`${id} is completed, and nobody did it`)
  for (const { n, id } of lines.filter(({ what }) => what === 'offered'))
    if (!offered.has(id)) wrong.push(`item ${n} was offered and is lost`)
  const acknowledged = lines.filter(({ what }) => what === 'ended')
  for (const { n, id, fence } of acknowledged)
    if (completed.get(id) !== fence) wrong.push(`item ${n} was completed under ${completed.get(id)}, and ${fence} was told so`)
  if (new Set(acknowledged.map(({ id }) => id)).size < acknowledged.length) wrong.push('an item was completed twice')
  const claims = lines.filter(({ what }) => what === 'began').map(({ id, fence }) => `${id} ${fence}`)
  if (new Set(claims).size < claims.length) wrong.push('a claim was worked on twice')
  return wrong
}

async function expectTicks(store: Store, lines: readonly Line[]): Promise<void> {
  const { items } = await store.cron.occurrences('tick', { last: 1000 })
  const dues = items.map(({ due }) => due).sort((a, b) => a - b)
  expect(dues.length).toBeGreaterThan(2)
  // Each second once, and none left out, whoever was there to see it.
  expect(dues).toEqual(dues.map((_, i) => (dues[0] ?? 0) + i * 1000))
  expect(items.filter(({ state }) => state !== 'done')).toEqual([])
  const ticked = new Set(lines.filter(({ what }) => what === 'ticked').map(({ n }) => n))
  expect(dues.filter((due) => !ticked.has(due))).toEqual([])
}

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test('workers that are killed and paused complete each item once, and an item that kills its workers becomes a dead letter', async () => {
    const url = await placeOf(engine)
    const outbox = join(tempFolder(), 'outbox')
    const store = await openIn(url, { schedule: false })
    await store.cron.set('tick', { every: '1s', queue: 'ticks', overlap: 'allow', missed: 'all', attempts: 100 })
    const fate: Fate = { kills: 0, pauses: 0, odd: [] }
    const over = Promise.withResolvers<void>()
    await offerAll(url, outbox, fate)
    const lanes = Array.from({ length: LANES }, (_, i) => lane(url, outbox, i, fate, over.promise))
    const items = store.queue<number>('items')
    await expect.poll(() => isDrained(store, 'items'), { timeout: 300_000, interval: 50 }).toBe(true)
    await store.cron.pause('tick')
    await expect.poll(() => isDrained(store, 'ticks'), { timeout: 300_000, interval: 50 }).toBe(true)
    over.resolve()
    await Promise.all(lanes)

    const found = await audit(store)
    const lines = linesOf(outbox)
    expect(found.complaints).toEqual([])
    expect(disagreements(lines, found)).toEqual([])
    expect(fate.odd).toEqual([])
    const ids = new Map(lines.map(({ n, id }) => [id, n]))
    expect([...found.completed.keys()].map((id) => ids.get(id) ?? -1).filter((n) => n < ITEMS).length).toBe(ITEMS - 1)
    expect((await items.list({ state: 'dead' })).items).toMatchObject([{ key: `item ${POISON}`, attempt: 2, error: { name: 'Poisoned' } }])
    expect(lines.filter(({ what, n }) => what === 'began' && n === POISON).length).toBe(2)
    await expectTicks(store, lines)
    await expectSound(store)
    // The controls: they were killed and paused, and some of them with something in hand.
    expect(fate.kills).toBeGreaterThanOrEqual(LANES)
    expect(fate.pauses).toBeGreaterThanOrEqual(LANES)
    expect(found.moves.get('taken over')).toBeGreaterThan(2)
  })

  test.each([
    ['is told so and writes nothing', '', { stats: { completed: 0, lost: 1 }, written: 0, second: 'no error' }],
    ['is refused though its own clock stood still', 'timeless', { stats: { completed: 0, lost: 1 }, written: 0, second: 'no error' }],
    ['would complete it without its fence', 'unfenced', { stats: { completed: 1, lost: 0 }, written: 1, second: 'FENCE_LOST' }],
  ])('a worker that was paused past its lease, when another has the item, %s', async (_, how, expected) => {
    const url = await placeOf(engine)
    const store = await openIn(url)
    const queue = store.queue('held')
    await queue.offer(1)
    const child = start(url, '', 'hold', how)
    const hear = wordsOf(child)
    const [begun, fence] = await hear()
    expect(begun).toBe('begun')
    child.kill('SIGSTOP')
    // It is paused and not gone: nobody takes the item before its time is over.
    expect(await queue.tryClaim()).toEqual({ why: 'blocked' })
    const claim = await queue.claim({ wait: '10s', lease: '60s' })
    expect(claim?.fence).toBeGreaterThan(fence as number)
    const { seq } = await store.head()
    child.stdin?.write('end\n')
    child.kill('SIGCONT')
    expect(await hear()).toEqual(['ended', expect.objectContaining(expected.stats)])
    expect((await store.head()).seq - seq).toBe(expected.written)
    expect(await codeOf(Promise.resolve(claim?.complete()))).toBe(expected.second)
    expect([...(await audit(store)).completed.values()]).toEqual([claim?.fence])
    if (how !== 'unfenced') await expectSound(store)
  })
})
