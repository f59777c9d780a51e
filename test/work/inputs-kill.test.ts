// A process that listens is killed again and again while somebody speaks to it, and started anew: everything said is heard, and recorded once.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import type { Engine } from '../runs/crashing-backend.ts'
import { expectSound, later, openIn, tempDatabase, tempFile, tempFolder } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds, SEED } from '../support/rounds.ts'

const INPUT_PROCESS = programAt(new URL('./input-process.ts', import.meta.url))
const KILLS = rounds(2, 15)

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function listen(...given: readonly string[]): {
  readonly child: ChildProcess
  readonly ready: Promise<unknown>
  readonly ended: Promise<unknown>
} {
  const child = spawn(process.execPath, [INPUT_PROCESS, ...given], { stdio: ['ignore', 'pipe', 'inherit'] })
  later(() => child.kill('SIGKILL'))
  const ready = new Promise((resolve) => child.stdout?.once('data', resolve))
  return { child, ready, ended: new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code))) }
}

const counted = (lines: readonly string[]): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(lines, (line) => line)].map(([line, all]) => [line, all.length]))

async function spokenTo(engine: Engine, how: string, seed: number) {
  const url = engine === 'sqlite' ? tempFile() : await tempDatabase()
  const outbox = join(tempFolder(), 'outbox')
  const store = await openIn(url)
  const session = await store.session('s')
  const { int } = chance(seed)
  let said = 0
  const speak = async () => {
    said++
    await session.input(said, { key: `m-${said}` })
    await session.inbox.offer(said, { key: `b-${said}`, kind: 'turn', delivery: 'boundary', join: said % 3 > 0 })
  }
  for (let i = 0; i < KILLS; i++) {
    const { child, ready, ended } = listen(url, outbox, how)
    await ready
    const end = performance.now() + 60 + int(80)
    while (performance.now() < end) await speak()
    // Something new was heard in every life.
    const before = heard(outbox)
    await speak()
    await expect.poll(() => heard(outbox)).toBeGreaterThan(Math.max(i, before - 1))
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
  }
  const last = listen(url, outbox, how)
  await last.ready
  await pause(50)
  await session.input('stop', { key: 'stop' })
  expect(await last.ended).toBe(0)
  return { store, session, said, lines: counted(readFileSync(outbox, 'utf8').trimEnd().split('\n')) }
}

const heard = (outbox: string): number => (existsSync(outbox) ? new Set(readFileSync(outbox, 'utf8').split('\n')).size - 1 : 0)

const again = (lines: ReadonlyMap<string, number>): number => [...lines.values()].reduce((sum, times) => sum + times - 1, 0)

describe.each<Engine>(['sqlite', 'postgres'])('on %s', (engine) => {
  test('a process that listens and is killed again and again hears everything, and records each once', async () => {
    const { store, session, said, lines } = await spokenTo(engine, '', SEED + 20)
    expect(said).toBeGreaterThan(KILLS)
    // Whatever was said before the first listener had begun is for the next turn; the rest was heard.
    const inputs = (await session.inputs.list({ last: 1000 })).items
    const unheard = inputs.filter(({ state }) => state !== 'completed')
    for (const { state } of unheard) expect(state).toBe('deferred')
    for (const { content, state } of inputs) expect(lines.has(`input ${content}`)).toBe(state === 'completed')
    const settled: string[] = []
    for await (const { data } of store.events({ types: ['effect.settled'] })) settled.push((data as { name: string }).name)
    for (const times of counted(settled).values()) expect(times).toBe(1)
    expect(new Set(settled)).toEqual(new Set(lines.keys()))
    // Whoever is killed has one thing in hand.
    expect(again(lines)).toBeLessThanOrEqual(KILLS)
    const batches = (await session.inbox.list({ last: 1000 })).items
    for (const { payload, state } of batches) expect(lines.has(`batch ${payload}`)).toBe(state === 'completed')
    for (const { state } of batches) expect(['completed', 'pending']).toContain(state)
    expect(lines.size).toBeGreaterThan(said)
    await expectSound(store)
  })

  test('a process that does what it hears outside of its run is found to have done it again', async () => {
    const { lines } = await spokenTo(engine, 'bare', 22)
    expect(again(lines)).toBeGreaterThan(KILLS)
  })
})
