// A holder is killed: how long until another process on the same machine has its runs, and how quickly that one catches up with a long tape.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { InkError, open, type Run, type Store } from '../../src/index.ts'
import { spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import type { Findings, Measure, Settings, Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { filledRun, RUN, recorded } from './ours.ts'
import { names } from './takeover-names.ts'

const TAPE = 10_000
// Longer than a lease: where death cannot be proved, that is what it takes.
const PATIENCE_MS = 60_000
// Whoever waits looks once a second. Killed at another moment each round, the rounds show the whole of it.
const LOOK_MS = 1000
const STEP_MS = 373

export const takeover: Workload = {
  name: 'takeover',
  title: 'from SIGKILL of a holder until another process has the run, and replay',
  run: async (settings: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    return {
      measures: [
        ...(await measured('SQLite', join(settings.folder, 'takeover.db'), settings)),
        ...(await measured('PostgreSQL', await server.database(), settings)),
      ],
      notes: [
        'the same machine, so the next one sees that the holder is gone and need not wait for its lease to end; where that cannot be seen, it is the time of the lease',
        `waiting and nodes look every ${number(LOOK_MS)} ms for a holder that is gone, and it is killed at another moment each round`,
        `replay: ${number(TAPE)} effects asked for one after the other and answered from the tape, a handle being there already; nothing is called`,
        server.settings,
      ],
    }
  },
}

async function measured(where: string, url: string, { rounds }: Settings): Promise<Measure[]> {
  await using store = await open(url)
  const found = { asked: [] as number[], awaited: [] as number[], offered: [] as number[], replay: [] as number[] }
  const session = await store.session('long')
  await (await filledRun(session, TAPE)).close()
  for (let round = 0; round <= rounds; round++) {
    const times = { ...(await takenOver(store, url, round)), replay: await replayed(await session.run(RUN)) }
    if (round > 0) for (const [what, value] of Object.entries(times)) found[what as keyof typeof found].push(value)
  }
  return [
    { what: `${where}, to whoever asks`, unit: 'ms', ours: spread(found.asked) },
    { what: `${where}, to whoever waits (wait: …)`, unit: 'ms', ours: spread(found.awaited) },
    { what: `${where}, to a node (store.work)`, unit: 'ms', ours: spread(found.offered) },
    { what: `${where}, replay`, unit: 'ef/s', ours: spread(found.replay) },
  ]
}

/** Effects a second, off the tape. */
async function replayed(given: Run): Promise<number> {
  await using run = given
  const start = performance.now()
  for (let i = 0; i < TAPE; i++) await recorded(run)
  return (TAPE * 1000) / (performance.now() - start)
}

/** In milliseconds, for each of the three ways to get a run. */
async function takenOver(store: Store, url: string, round: number) {
  const { asked, awaited, offered } = names(round)
  await store.start(offered, { session: offered })
  const holder = fork(fileURLToPath(new URL('holder-child.ts', import.meta.url)), [url, String(round)])
  try {
    await held(holder)
    const askedSession = await store.session(asked)
    if (!(await isHeld(askedSession.run(asked)))) throw new Error('the run was not held, so nothing can be taken over')
    const taken = Promise.withResolvers<number>()
    const node = store.work({
      [offered]: async (run: Run) => {
        taken.resolve(performance.now())
        await recorded(run)
      },
    })
    const waiting = since((await store.session(awaited)).run(awaited, { wait: PATIENCE_MS }))
    await sleep(100 + ((round * STEP_MS) % LOOK_MS))
    const start = performance.now()
    holder.kill('SIGKILL')
    const asking = since(ask(() => askedSession.run(asked), start + PATIENCE_MS))
    const ends = await Promise.all([asking, waiting, taken.promise])
    // Closing lets the node's run end.
    await node.close()
    const [a = 0, b = 0, c = 0] = ends.map((end) => end - start)
    return { asked: a, awaited: b, offered: c }
  } finally {
    holder.kill('SIGKILL')
  }
}

/** When the run was there. What its holder recorded is answered, and then it is let go. */
async function since(opening: Promise<Run>): Promise<number> {
  await using run = await opening
  const at = performance.now()
  await recorded(run)
  return at
}

async function ask(openRun: () => Promise<Run>, until: number): Promise<Run> {
  for (;;) {
    const opening = openRun()
    if (performance.now() > until || !(await isHeld(opening))) return opening
    await sleep(1)
  }
}

async function isHeld(opening: Promise<Run>): Promise<boolean> {
  try {
    await opening
    return false
  } catch (error) {
    if (error instanceof InkError && error.code === 'RUN_HELD') return true
    throw error
  }
}

/** One that ends instead has said why on standard error. */
async function held(holder: ChildProcess): Promise<void> {
  const ended = once(holder, 'exit').then(([code]) => {
    throw new Error(`the process that was to hold the runs ended with ${code}`)
  })
  ended.catch(() => {})
  await Promise.race([once(holder, 'message'), ended])
}
