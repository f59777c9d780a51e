// The built package in fresh processes: importing it, and commands on a small store, beside a Node that does nothing.

import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { open } from '../../src/index.ts'
import { inChild } from '../lib/child.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { atMost, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import type { Imported } from './import-child.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const entry = new URL('../../dist/index.js', import.meta.url).href
const IMPORT_MS = 65
const IMPORT_MIB = 35
const COMMAND_MS = 130

const commands = {
  events: ['events', '--last', '10'],
  sessions: ['sessions'],
  runs: ['runs'],
  queue: ['queue'],
  state: ['state'],
} as const
type Command = keyof typeof commands

async function timed(args: readonly string[]): Promise<number> {
  const start = performance.now()
  await run(process.execPath, args)
  return performance.now() - start
}

export const start: Workload = {
  name: 'start',
  title: 'import the built package, and run commands',
  run: async ({ folder, rounds, say }: Settings): Promise<Findings> => {
    say('building dist')
    execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')])
    const file = join(folder, 'start.db')
    {
      await using store = await open(file)
      const session = await store.session('support/4711')
      for (let n = 0; n < 100; n++) await session.append('note.taken', { n })
    }
    const memory: number[] = []
    const processor: number[] = []
    const command = (name: Command) => {
      const [noun, ...options] = commands[name]
      return () => timed([join(root, 'bin', 'inkfast.js'), noun, file, ...options])
    }
    const found = await interleave<'node' | 'import' | Command>(rounds, {
      node: () => timed(['--eval', '0']),
      import: async () => {
        const { ms, processorMs, mib } = await inChild<Imported>(new URL('import-child.ts', import.meta.url), entry)
        memory.push(mib)
        processor.push(processorMs)
        return ms
      },
      events: command('events'),
      sessions: command('sessions'),
      runs: command('runs'),
      queue: command('queue'),
      state: command('state'),
    })
    const beside = (what: string, name: 'import' | Command, limit: number): Measure => {
      const ours = spread(found[name])
      const ratio = ratios(found[name], found.node)
      return { what, unit: 'ms', ours, peer: spread(found.node), peerName: 'node', ratio, goal: atMost(limit, ours, 'ms') }
    }
    return {
      measures: [
        beside("import 'inkfast'", 'import', IMPORT_MS),
        { what: 'processor time of that', unit: 'ms', ours: spread(processor) },
        { what: 'memory of that', unit: 'MiB', ours: spread(memory), goal: atMost(IMPORT_MIB, spread(memory), 'MiB') },
        ...(Object.keys(commands) as Command[]).map((name) => beside(`inkfast ${name}`, name, COMMAND_MS)),
      ],
      notes: [
        'a fresh process each time, files in the page cache; the “peer” is node --eval 0, which every command includes and the import does not',
        'commands find their compiled code in the cache, because the first round, which is not counted, leaves it there',
      ],
    }
  },
}
