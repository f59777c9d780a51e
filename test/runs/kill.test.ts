// A process that works on a run is killed, and started again, until the run is done; another is paused past its lease, and wakes up when
// somebody else has it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import type { Store } from '../../src/index.ts'
import { expectSound, later, openIn, tempDatabase, tempFile, tempFolder } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds, SEED } from '../support/rounds.ts'
import type { Engine } from './crashing-backend.ts'

const RUN_PROCESS = programAt(new URL('./run-process.ts', import.meta.url))
const KILLS = rounds(2, 40)

function start(...given: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [RUN_PROCESS, ...given], { stdio: ['pipe', 'pipe', 'inherit'] })
  later(() => child.kill('SIGKILL'))
  return child
}

const placeOf = async (engine: Engine): Promise<string> => (engine === 'sqlite' ? tempFile() : tempDatabase())

/** When a process is killed: at a random moment, or once it has come so far. */
type Kill = { readonly afterMs: number } | { readonly atStep: number }

/** One life; the answer is how it ended. */
function live(url: string, outbox: string, how: string, kill: Kill | undefined): Promise<'done' | 'killed'> {
  const child = start(url, outbox, 'plan', how)
  createInterface(child.stdout as NodeJS.ReadableStream).on('line', (line) => {
    if (!kill) return
    const [word, step] = JSON.parse(line) as [string, number]
    if ('atStep' in kill ? word === 'step' && step >= kill.atStep : word === 'ready')
      setTimeout(() => child.kill('SIGKILL'), 'afterMs' in kill ? kill.afterMs : 0)
  })
  // Some die before they have said anything.
  if (kill && 'afterMs' in kill && kill.afterMs < 5) setTimeout(() => child.kill('SIGKILL'), 200 + 40 * kill.afterMs)
  return new Promise((resolve, reject) =>
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve('killed')
      else if (code === 0) resolve('done')
      else reject(new Error(`it ended by itself with ${code}`))
    }),
  )
}

interface Told {
  readonly outcomes: ReadonlyMap<string, number>
  readonly sent: ReadonlyMap<string, number>
  readonly kills: number
}

/** Killed so often, then left alone until it is done. */
async function work(url: string, how: string, often: number, kill: () => Kill): Promise<Told> {
  const outbox = join(tempFolder(), 'outbox')
  let kills = 0
  for (let i = 0; ; i++) {
    const ended = await live(url, outbox, how, i < often ? kill() : undefined)
    if (ended === 'done') break
    kills++
  }
  const sent = existsSync(outbox) ? readFileSync(outbox, 'utf8').trimEnd().split('\n') : []
  return { outcomes: await outcomesOf(url), sent: counted(sent), kills }
}

async function outcomesOf(url: string): Promise<ReadonlyMap<string, number>> {
  const store = await openIn(url)
  const names: string[] = []
  for await (const { data } of store.events({ types: ['effect.settled'] })) names.push((data as { name: string }).name)
  await expectSound(store)
  return counted(names)
}

const counted = (names: readonly string[]): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]))

function complaintsAbout({ outcomes, sent, kills }: Told): readonly string[] {
  const wrong: string[] = []
  for (const [name, times] of outcomes) if (times !== 1) wrong.push(`${name} has ${times} outcomes`)
  for (const name of outcomes.keys()) if (!sent.has(name)) wrong.push(`${name} has an outcome and was not done`)
  for (const name of sent.keys()) if (!outcomes.has(name)) wrong.push(`${name} was done and has no outcome`)
  // Whoever is killed has one thing in hand, or two where it works in two branches.
  const again = [...sent.values()].reduce((sum, times) => sum + times - 1, 0)
  if (again > 2 * kills) wrong.push(`${again} things were done again after ${kills} kills`)
  return wrong
}

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test('a process that is killed again and again does nothing twice that it has recorded', async () => {
    const { int } = chance(SEED + 10)
    const told = await work(await placeOf(engine), '', KILLS, () => ({ afterMs: int(40) }))
    expect(complaintsAbout(told)).toEqual([])
    expect(told.outcomes.size).toBe(60 + 2 * 12)
    expect(told.kills).toBeGreaterThanOrEqual(KILLS / 2)
  })

  test('a process that keeps nothing of what it did is found out', async () => {
    const wrong = complaintsAbout(await work(await placeOf(engine), 'bare', 3, () => ({ atStep: 8 })))
    expect(wrong).toEqual([expect.stringContaining('were done again')])
  })

  test.each([
    ['is told so and writes nothing', '', { outcome: 'FENCE_LOST', after: 'FENCE_LOST', written: 0, outcomes: 1 }],
    ['is refused though its own clock stood still', 'timeless', { outcome: 'FENCE_LOST', after: 'FENCE_LOST', written: 0, outcomes: 1 }],
    [
      'would write a second outcome without its fence',
      'unfenced',
      { outcome: 'by the first', after: 'by the first', written: 2, outcomes: 2 },
    ],
  ])('a process that was paused past its lease, when another has it, %s', async (_, how, expected) => {
    const url = await placeOf(engine)
    const child = start(url, '', 'hold', how)
    const lines = createInterface(child.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]()
    const hear = async () => JSON.parse((await lines.next()).value ?? '[]') as unknown[]
    const [, fence] = await hear()
    expect(await hear()).toEqual(['begun'])
    const store = await openIn(url)
    const session = await store.session('s')
    child.kill('SIGSTOP')
    // It is paused and not gone: nobody takes the run before its time is over.
    const held = await session.run('plan').catch((error: { code: string }) => error.code)
    expect(held).toBe('RUN_HELD')
    const run = await session.run('plan', { wait: '10s' })
    expect(run.fence).toBeGreaterThan(fence as number)
    expect(await run.effect('charge', () => 'by the second')).toBe('by the second')
    const { seq } = await store.head()
    child.stdin?.write('end\n')
    child.kill('SIGCONT')
    expect(await hear()).toEqual(['ended', expected.outcome, expected.after])
    expect((await store.head()).seq - seq).toBe(expected.written)
    expect(await settled(store, 'charge')).toBe(expected.outcomes)
    if (how !== 'unfenced') await expectSound(store)
  })
})

async function settled(store: Store, wanted: string): Promise<number> {
  let times = 0
  for await (const { data } of store.events({ types: ['effect.settled'] })) if ((data as { name: string }).name === wanted) times++
  return times
}
