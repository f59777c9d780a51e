// A holder is killed: how long until another process on the same machine has its run, and how quickly that one catches up with a long tape.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { InkError, open, type Run, type Store } from '../../src/index.ts'
import { interleave } from '../lib/rounds.ts'
import { spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import type { Findings, Measure, Settings, Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import type { Holder } from './holder-child.ts'
import { filledRun, RUN, recorded } from './ours.ts'

const TAPE = 10_000
// Longer than a lease: where death cannot be proved, that is what it takes.
const PATIENCE_MS = 60_000
// Whoever waits looks once a second. Killed at another moment each time, the rounds show the whole of it.
const LOOK_MS = 1000
const STEP_MS = 373

export const takeover: Workload = {
  name: 'takeover',
  title: 'from SIGKILL of a holder until another process has the run, and replay',
  run: async ({ folder, rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    const [file, database] = [join(folder, 'takeover.db'), await server.database()]
    await using sqlite = await open(file)
    await using postgres = await open(database)
    const measures = [...(await measured('SQLite', sqlite, file, rounds)), ...(await measured('PostgreSQL', postgres, database, rounds))]
    const nodes = (await Promise.all([toNode(sqlite, file), toNode(postgres, database)])).map((ms) => `${number(ms / 1000)} s`)
    return {
      measures,
      notes: [
        'on one machine, where the next one sees that the process is gone; where that cannot be seen, it is the rest of the lease',
        `whoever asks does so again and again; whoever waits looks once a second, and the holder is killed at another moment each round`,
        `a node (store.work) had the run of another one, killed as soon as it had it, after ${nodes.join(' on SQLite and ')} on PostgreSQL; once each`,
        `replay: ${number(TAPE)} effects asked for one after the other and answered from the tape, the handle being there; nothing is called`,
        server.settings,
      ],
    }
  },
}

async function measured(where: string, store: Store, url: string, rounds: number): Promise<Measure[]> {
  const long = await store.session('long')
  await (await filledRun(long, TAPE)).close()
  let n = 0
  const found = await interleave(rounds, {
    asked: () => toWhoeverAsks(store, url, `asked-${n++}`),
    awaited: () => toWhoeverWaits(store, url, `awaited-${n}`, (n++ * STEP_MS) % LOOK_MS),
    replay: async () => replayed(await long.run(RUN)),
  })
  return [
    { what: `${where}, to whoever asks`, unit: 'ms', ours: spread(found.asked) },
    { what: `${where}, to whoever waits`, unit: 'ms', ours: spread(found.awaited) },
    { what: `${where}, replay`, unit: 'ef/s', ours: spread(found.replay) },
  ]
}

/** `session.run`, until it is not refused any more. */
async function toWhoeverAsks(store: Store, url: string, name: string): Promise<number> {
  await using holder = await startHolder(url, name, 'program')
  const session = await store.session(name)
  if (!(await isHeld(session.run(name)))) throw new Error('the run was not held, so nothing can be taken over')
  const start = holder.kill()
  for (;;) {
    const opening = session.run(name)
    if (performance.now() - start < PATIENCE_MS && (await isHeld(opening))) await sleep(1)
    else return (await arrival(opening)) - start
  }
}

/** `session.run` with `wait`, from before the holder is killed. */
async function toWhoeverWaits(store: Store, url: string, name: string, afterMs: number): Promise<number> {
  await using holder = await startHolder(url, name, 'program')
  const arriving = arrival((await store.session(name)).run(name, { wait: PATIENCE_MS }))
  await Promise.race([arriving, sleep(LOOK_MS + afterMs)])
  const start = holder.kill()
  const at = await arriving
  if (at < start) throw new Error('the run was not held, so nothing can be taken over')
  return at - start
}

/** A node whose work another one had. */
async function toNode(store: Store, url: string): Promise<number> {
  const name = 'offered'
  await store.start(name, { session: name })
  await using holder = await startHolder(url, name, 'node')
  const taken = Promise.withResolvers<number>()
  await using _ = store.work({
    [name]: async (run: Run) => {
      taken.resolve(performance.now())
      await recorded(run)
    },
  })
  const start = holder.kill()
  return (await taken.promise) - start
}

/** When the run was there. What its holder recorded is answered, and then it is let go. */
async function arrival(opening: Promise<Run>): Promise<number> {
  await using run = await opening
  const at = performance.now()
  await recorded(run)
  return at
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

/** Effects a second, off the tape. */
async function replayed(given: Run): Promise<number> {
  await using run = given
  const start = performance.now()
  for (let i = 0; i < TAPE; i++) await recorded(run)
  return (TAPE * 1000) / (performance.now() - start)
}

/** A process that holds the run, until `kill` or the end of the block. */
async function startHolder(url: string, name: string, as: Holder): Promise<{ kill(): number } & AsyncDisposable> {
  const child = fork(fileURLToPath(new URL('holder-child.ts', import.meta.url)), [url, name, as])
  const ended = once(child, 'exit')
  const end = async () => {
    child.kill('SIGKILL')
    await ended
  }
  try {
    await Promise.race([once(child, 'message'), ended.then(([code]) => fail(`the process that was to hold a run ended with ${code}`))])
  } catch (error) {
    await end()
    throw error
  }
  return {
    kill: () => {
      const at = performance.now()
      child.kill('SIGKILL')
      return at
    },
    [Symbol.asyncDispose]: end,
  }
}

function fail(why: string): never {
  throw new Error(why)
}
