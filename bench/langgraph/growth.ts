// How a thread grows: bytes on disk beside the raw text, time for a turn at the beginning and at the end, and the first load of a new process.

import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { InkfastSaver } from '../../src/adapters/langgraph/index.ts'
import { open } from '../../src/index.ts'
import { median, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atLeast, atMost, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { RAW_BYTES, THREAD, talker } from './graph.ts'
import { sqliteSaver } from './sqlite-saver.ts'
import { growValues } from './values.ts'

const SHORT = 200
const EDGE = 20

interface Grown {
  readonly first: number
  readonly last: number
  /** Bytes of the file without those of an empty store. */
  readonly bytes: number
  /** The same after garbage collection, which removes superseded roots. */
  readonly collected: number
  readonly cold: number
}

export const growth: Workload = {
  name: 'growth',
  title: 'a LangGraph thread as it grows',
  needsPeers: true,
  run: async (settings: Settings): Promise<Findings> => {
    const measures: Measure[] = []
    for (const turns of settings.quick ? [SHORT, 2000] : [SHORT, 2000, 10_000]) {
      settings.say(`a thread of ${number(turns)} turns`)
      measures.push(...measuresOf(turns, await grow(settings.folder, turns)))
      measures.push(...(await growValues(settings.folder, turns, await emptyBytes(settings.folder))))
    }
    settings.say(`SqliteSaver and ours, ${SHORT} turns each`)
    measures.push(...(await besideSqliteSaver(settings.folder)))
    return {
      measures,
      notes: [
        `a turn is ${number(RAW_BYTES)} characters of text; StateGraph(MessagesAnnotation), unmodified, FULL; medians of ${EDGE} turns`,
        'bytes are those of the file after closing, journal included, without the file of an empty store',
        'after collection: store.collect with no grace, and the file compacted',
        'values: an append is one message; the last messages are read from the disk, and not from the memory of the process',
      ],
    }
  },
}

async function emptyBytes(folder: string): Promise<number> {
  const file = join(folder, 'empty.db')
  const store = await open(file)
  await store.state.set('x', 1)
  await store.close()
  const { size } = statSync(file)
  rmSync(file)
  return size
}

async function grow(folder: string, turns: number): Promise<Grown> {
  const file = join(folder, `${turns}.db`)
  const empty = await emptyBytes(folder)
  const times: number[] = []
  {
    await using store = await open(file)
    const turn = talker(new InkfastSaver(store))
    for (let i = 0; i < turns; i++) times.push(await turn())
  }
  const { size } = statSync(file)
  const [cold, collected] = await loadAndCollect(file)
  return { first: median(times.slice(0, EDGE)), last: median(times.slice(-EDGE)), bytes: size - empty, collected: collected - empty, cold }
}

async function loadAndCollect(file: string): Promise<readonly [cold: number, bytes: number]> {
  let cold: number
  {
    await using store = await open(file)
    const start = performance.now()
    await new InkfastSaver(store).getTuple(THREAD)
    cold = performance.now() - start
    await store.collect({ grace: 0 })
    await store.maintain()
  }
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(file)
  database.exec('vacuum')
  database.close()
  return [cold, statSync(file).size]
}

function measuresOf(turns: number, grown: Grown): readonly Measure[] {
  const raw = turns * RAW_BYTES
  const bytes = spread([grown.bytes / raw])
  const growing = spread([grown.last / grown.first])
  const name = `${number(turns)} turns`
  return [
    { what: `${name}, bytes beside raw text`, unit: '×', ours: bytes, goal: atMost(3, bytes) },
    { what: `${name}, the same after collection`, unit: '×', ours: spread([grown.collected / raw]) },
    {
      what: `${name}, last turns beside first`,
      unit: 'ms',
      ours: spread([grown.last]),
      peer: spread([grown.first]),
      peerName: 'first',
      ratio: growing,
      ...(turns <= 2000 && { goal: atMost(turns <= SHORT ? 1 : 2, growing) }),
    },
    { what: `${name}, first load of a new process`, unit: 'ms', ours: spread([grown.cold]) },
  ]
}

/** Turn by turn, so that a neighbour's load falls on both. */
async function besideSqliteSaver(folder: string): Promise<readonly Measure[]> {
  const [ourFile, peerFile] = [join(folder, 'ours.db'), join(folder, 'peer.db')]
  const empty = await emptyBytes(folder)
  const peer = await sqliteSaver(peerFile)
  const ours: number[] = []
  const theirs: number[] = []
  {
    await using store = await open(ourFile)
    const [ourTurn, theirTurn] = [talker(new InkfastSaver(store)), talker(peer.saver)]
    for (let i = 0; i < SHORT; i++) {
      ours.push(await ourTurn())
      theirs.push(await theirTurn())
    }
  }
  peer.close()
  const [ourLast, theirLast] = [ours.slice(-EDGE), theirs.slice(-EDGE)]
  const faster = spread(theirLast.map((ms, i) => ms / (ourLast[i] as number)))
  const [ourBytes, theirBytes] = [statSync(ourFile).size - empty, statSync(peerFile).size]
  const smaller = spread([theirBytes / ourBytes])
  return [
    {
      what: `turn ${SHORT}: time, how many times less`,
      unit: 'ms',
      ours: spread(ourLast),
      peer: spread(theirLast),
      peerName: 'SqliteSaver',
      ratio: faster,
      goal: atLeast(4, faster),
    },
    {
      what: `turn ${SHORT}: file, how many times smaller`,
      unit: 'MB',
      ours: spread([ourBytes / 1e6]),
      peer: spread([theirBytes / 1e6]),
      peerName: 'SqliteSaver',
      ratio: smaller,
      goal: atLeast(120, smaller),
    },
  ]
}
