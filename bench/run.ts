// npm run bench -- <topic>: measures a topic beside its peers and says whether the goals are met.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Machine, machine } from './lib/machine.ts'
import { installPeers, type PeerFolder } from './lib/peers.ts'
import { type Findings, type Settings, show, type Workload } from './lib/workload.ts'

interface Topic {
  readonly about: string
  readonly peers: PeerFolder
  readonly load: () => Promise<readonly Workload[]>
}

const topics: Readonly<Record<string, Topic>> = {
  journal: {
    about: 'append, verify, open, growth, load and redaction on SQLite',
    peers: '.',
    load: async () => (await import('./journal/topic.ts')).journal,
  },
  postgres: {
    about: 'append on PostgreSQL, from one process and from four',
    peers: 'postgres',
    load: async () => (await import('./postgres/topic.ts')).postgres,
  },
  runs: {
    about: 'effects, growth and takeover of runs on SQLite and PostgreSQL',
    peers: 'runs',
    load: async () => (await import('./runs/topic.ts')).runs,
  },
  resume: {
    about: 'time to resume a run after a crash, with and without checkpoints',
    peers: 'runs',
    load: async () => [(await import('./runs/resume.ts')).resume],
  },
  queue: {
    about: 'claims, draining and offers of queues on PostgreSQL and SQLite',
    peers: 'queue',
    load: async () => (await import('./queue/topic.ts')).queue,
  },
  tenants: {
    about: 'looking for due work in a store with 1, 10,000 and a million tenants',
    peers: '.',
    load: async () => (await import('./tenants/topic.ts')).tenants,
  },
  canvas: {
    about: 'patches, versions and size of canvases on SQLite',
    peers: '.',
    load: async () => (await import('./canvas/topic.ts')).canvas,
  },
  recall: {
    about: 'recall by words on SQLite and PostgreSQL, search for the nearest vectors on SQLite',
    peers: 'recall',
    load: async () => (await import('./recall/topic.ts')).recall,
  },
  growth: {
    about: 'size and time of a LangGraph thread as it grows, on SQLite',
    peers: 'langgraph',
    load: async () => [(await import('./langgraph/growth.ts')).growth],
  },
  checkpoint: {
    about: 'steps of LangGraph per second on SQLite',
    peers: 'langgraph',
    load: async () => [(await import('./langgraph/checkpoint.ts')).checkpoint],
  },
  start: {
    about: 'the time and memory of importing the built package, and of commands',
    peers: '.',
    load: async () => [(await import('./start/start.ts')).start],
  },
  messages: {
    about: 'saves and loads of messages, and a streamed answer, on SQLite',
    peers: 'messages',
    load: async () => [(await import('./messages/saves.ts')).messages],
  },
}

const usage = `npm run bench -- <topic> [options]

topics
${Object.entries(topics)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}

options
  --quick          smaller files and shorter turns, for a first look
  --rounds <n>     how often each contestant has its turn (7, or 5 with --quick)
  --only <names>   these workloads alone, e.g. append-raw,verify
  --no-peers       skip what needs a peer; nothing is installed
  --keep           keep the large files and say where they are
  --files <folder> keep the large files there, and use those that are there
  --json           one JSON object on standard output`

const ROUNDS_LEAST = 5

async function main(args: readonly string[]): Promise<number> {
  let given: ReturnType<typeof parse>
  try {
    given = parse(args)
  } catch (error) {
    return complain((error as Error).message)
  }
  const { values, positionals } = given
  const name = positionals[0]
  if (name === undefined) {
    console.log(usage)
    return 0
  }
  const topic = Object.hasOwn(topics, name) ? topics[name] : undefined
  if (!topic || positionals.length > 1) return complain(topic ? 'one topic at a time' : `there is no topic ${name}`)
  const rounds = Number(values.rounds ?? (values.quick ? 5 : 7))
  if (!Number.isInteger(rounds) || rounds < ROUNDS_LEAST) return complain(`--rounds is a whole number, ${ROUNDS_LEAST} or more`)
  const all = await topic.load()
  const wanted = values.only?.split(',') ?? all.map((w) => w.name)
  const unknown = wanted.filter((w) => !all.some((known) => known.name === w))
  if (unknown.length > 0) return complain(`there is no workload ${unknown.join(', ')}; there are ${all.map((w) => w.name).join(', ')}`)
  const chosen = all.filter((w) => wanted.includes(w.name) && (!values['no-peers'] || !w.needsPeers))

  const say = (line: string) => console.error(line)
  const peers = !values['no-peers'] && chosen.some((w) => w.needsPeers)
  const obstacle = peers ? installPeers(topic.peers, say) : undefined
  if (obstacle) {
    say(obstacle)
    return 1
  }

  const folder = mkdtempSync(join(tmpdir(), 'inkfast-bench-'))
  const files = values.files ? resolve(values.files) : join(folder, 'files')
  mkdirSync(files, { recursive: true })
  try {
    await measure(name, machine(topic.peers), all, chosen, { quick: values.quick, rounds, peers, folder, files, say }, values.json)
  } finally {
    if (values.keep && !values.files) say(`kept in ${files}; use them again with --files ${files}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  return 0
}

async function measure(
  topic: string,
  at: Machine,
  all: readonly Workload[],
  chosen: readonly Workload[],
  settings: Settings,
  json: boolean,
): Promise<void> {
  const start = performance.now()
  const skipped = settings.peers ? [] : all.filter((w) => w.needsPeers).map((w) => w.name)
  if (!json) console.log(`${heading(topic, at, settings, skipped)}\n`)
  const results: ({ name: string; title: string; seconds: number } & Findings)[] = []
  for (const { name, title, run } of chosen) {
    const began = performance.now()
    const folder = mkdtempSync(join(settings.folder, `${name}-`))
    const findings = await run({ ...settings, folder })
    rmSync(folder, { recursive: true, force: true })
    results.push({ name, title, seconds: secondsSince(began), ...findings })
    if (!json) console.log(`${name}: ${title} (${secondsSince(began)} s)\n${show(findings)}\n`)
  }
  const goals = results.flatMap((r) => r.measures.flatMap((m) => m.goal ?? []))
  const summary = { goals: goals.length, met: goals.filter((g) => g.met).length, seconds: secondsSince(start) }
  const { quick, rounds, peers } = settings
  if (json) console.log(JSON.stringify({ topic, machine: at, settings: { quick, rounds, peers }, workloads: results, summary }, null, 2))
  else console.log(`${summary.met} of ${summary.goals} goals met, in ${summary.seconds} s. Read bench/README.md before quoting a number.`)
}

const secondsSince = (start: number): number => Math.round((performance.now() - start) / 100) / 10

const heading = (topic: string, at: Machine, { quick, rounds, peers }: Settings, skipped: readonly string[]): string =>
  [
    `bench ${topic}${quick ? ', quick' : ''}: ${rounds} rounds in turns; median (least–most)`,
    `Node ${at.node}, SQLite ${at.sqlite}, ${at.cores} cores (${at.processor}), ${at.memoryGiB} GiB, load ${at.load} at the start`,
    peers
      ? `peers: ${Object.entries(at.peers)
          .map(([name, version]) => `${name} ${version}`)
          .join(', ')}`
      : `without peers (${skipped.join(', ')} not run)`,
  ].join('\n')

function complain(why: string): number {
  console.error(`${why}\n\n${usage}`)
  return 2
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      'no-peers': { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string' },
      files: { type: 'string' },
    },
  })
}

process.exitCode = await main(process.argv.slice(2))
