// Defines all commands with their options and help. The code of a command is loaded when it is called.

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { counting, type Define, type Done, STORE, type TerminalOf } from './define.ts'
import { inPackage } from './package-root.ts'
import { defineApprovals } from './program-approvals.ts'
import { defineCanvas } from './program-canvas.ts'
import { defineBlobs, defineValues } from './program-content.ts'
import { defineCron } from './program-cron.ts'
import { defineGraph } from './program-graph.ts'
import { defineMemory } from './program-memory.ts'
import { defineProcesses } from './program-processes.ts'
import { defineQueue } from './program-queue.ts'
import { defineRuns } from './program-runs.ts'
import { defineSessions } from './program-sessions.ts'
import { defineSnapshots, defineState } from './program-state.ts'
import { defineTenants } from './program-tenants.ts'
import { defineThreads } from './program-threads.ts'
import { defineTriggers } from './program-triggers.ts'

const EXITS = `
Exit codes:
  0 success                     1 a check failed      2 wrong usage
  3 not found, or denied        4 damaged, or not a store
  5 conflict, busy or unavailable                     6 unexpected error`

const DEFAULT_VERB = 'list'

export function program(terminalOf: TerminalOf, done: Done): Command {
  const root = new Command('inkfast')
    .description('Inspect, verify and operate an Inkfast store.')
    .usage('<command> [verb] [store] [options]')
    .configureHelp({ subcommandTerm: (command) => [command.name(), ...argumentsOf(command)].join(' ') })
    .version(versionOf(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .showHelpAfterError(false)
    .exitOverride()
    .addHelpText('after', `${EXITS}\n\nStart with:\n  inkfast demo`)

  const within = (parent: Command, usual = DEFAULT_VERB): Define => {
    return (name, description, examples) =>
      parent
        .command(name, { isDefault: name === usual })
        .description(description)
        .helpOption('-h, --help', 'show this help')
        .option('--json', 'print JSON')
        .addHelpText('after', `\nExamples:\n${examples.map((e) => `  inkfast ${e}`).join('\n')}\n${EXITS}`)
  }
  const define = within(root)

  define('demo', 'Kill an agent at the worst moments and watch another one continue; tamper with a copy and watch verify find it.', [
    'demo',
    'demo --kills 5 --keep',
    'demo --json',
  ])
    .option('--keep', 'keep the folder with the stores and the outbox')
    .option('--kills <n>', 'kill the concurrent writers n times, 1 to 50', counting(1, 50), 3)
    .action(async (o) => done(await (await import('./commands/demo.ts')).demo(terminalOf(o.json), o)))

  filters(
    define('tail', 'Show the last events, then follow the journal. Stop with Ctrl-C.', [
      'tail agents.db',
      "tail agents.db --type 'tool.*' --session support/4711",
      'tail agents.db --from 1 --json',
    ]).argument('[store]', STORE),
  )
    .option('--from <seq>', 'start with this event', counting(0))
    .option('--last <n>', 'show the last n events first (default 10)', counting(0))
    .action(async (store, o) => done(await (await import('./commands/tail.ts')).tail(terminalOf(o.json), store, o)))

  filters(
    define('events', 'Show the last events. --json prints one event per line.', [
      'events agents.db',
      'events agents.db --session support/4711 --first 100',
      "events agents.db --type 'plan.*' --type model.called --since 2h",
      'events agents.db --after 100 --before 200 --last 1000 --json',
    ]).argument('[store]', STORE),
  )
    .option('--last <n>', 'show the last n events (default 20)', counting(1))
    .option('--first <n>', 'show the first n events', counting(1))
    .action(async (store, o) => done(await (await import('./commands/events.ts')).events(terminalOf(o.json), store, o)))

  const sessions = define('sessions', 'List sessions, or show one.', ['sessions agents.db', 'sessions show agents.db support/4711'])
  defineSessions(sessions, within(sessions), terminalOf, done)

  const graph = define('graph', 'Show the message graph of a session.', ['graph agents.db support/4711'])
  defineGraph(graph, within(graph, 'show'), terminalOf, done)

  const threads = define('threads', 'List threads, or show the messages of one.', [
    'threads agents.db',
    'threads show agents.db support/4711',
  ])
  defineThreads(threads, within(threads), terminalOf, done)

  const runs = define('runs', 'List runs, show a run and its tape; cancel, resolve, fork or wake it.', [
    'runs agents.db --state waiting',
    'runs show agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2',
    'runs tape --help',
  ])
  defineRuns(runs, within(runs), terminalOf, done)

  const queue = define('queue', 'Show queues and their items; offer or cancel an item, redrive dead ones.', [
    'queue agents.db',
    'queue list agents.db outbox --state dead',
    'queue redrive agents.db outbox',
  ])
  defineQueue(queue, within(queue, 'stats'), terminalOf, done)

  const cron = define('cron', 'List cron jobs, show one; set, pause, resume, run, backfill or delete it.', [
    'cron agents.db',
    'cron show agents.db digest',
    'cron set --help',
  ])
  defineCron(cron, within(cron), terminalOf, done)

  const triggers = define('triggers', 'List triggers, show one and its deliveries; fire, disable, enable or delete.', [
    'triggers agents.db',
    'triggers show agents.db mail',
    'triggers history agents.db --source orders',
  ])
  defineTriggers(triggers, within(triggers), terminalOf, done)

  const approvals = define('approvals', 'List approvals, show one; approve or deny it; export and verify.', [
    'approvals agents.db --state pending',
    'approvals approve agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 --by user/grace',
    'approvals export agents.db > approvals.ndjson',
  ])
  defineApprovals(approvals, within(approvals), terminalOf, done)

  const processes = define('processes', 'List agent processes, show one and its events; cancel, abandon, grant, revoke or prune.', [
    'processes agents.db',
    'processes show agents.db crawl/4711',
    "processes cancel agents.db crawl/4711 --reason 'not needed'",
  ])
  defineProcesses(processes, within(processes), terminalOf, done)

  const state = define('state', 'List, print, set and delete entries of key-value state.', [
    'state agents.db',
    'state get agents.db cursor/github',
  ])
  defineState(state, within(state), terminalOf, done)

  const canvas = define('canvas', 'List canvases, print their documents and versions, or patch one.', [
    'canvas agents.db',
    'canvas show agents.db support/4711 plan',
  ])
  defineCanvas(canvas, within(canvas), terminalOf, done)

  const memory = define('memory', 'Remember, search, list, forget and export items of memory; evaluate recall.', [
    'memory agents.db',
    "memory search agents.db 'which units?'",
    'memory eval',
  ])
  defineMemory(memory, within(memory), terminalOf, done)

  const snapshots = define('snapshots', 'List snapshots of executions, or show one.', [
    'snapshots agents.db',
    'snapshots show agents.db exec-1',
  ])
  defineSnapshots(snapshots, within(snapshots), terminalOf, done)

  const blobs = define('blobs', 'List blobs, write one to a file, or store a file as one.', [
    'blobs agents.db',
    'blobs get agents.db 3f2a…9c report.pdf',
    'blobs put agents.db report.pdf --pin',
  ])
  defineBlobs(blobs, within(blobs), terminalOf, done)

  const values = define('values', 'Print a value, or a part of it.', ['values get agents.db value:3q2-7w…'])
  defineValues(values, within(values, 'get'), terminalOf, done)

  const tenants = define('tenants', 'List tenants; suspend, resume or delete one.', [
    'tenants agents.db',
    "tenants suspend agents.db acme --reason 'invoice 81 is not paid'",
    "tenants resume agents.db acme --reason 'invoice 81 was paid'",
  ])
  defineTenants(tenants, within(tenants), terminalOf, done)

  define('verify', 'Verify the hash chain of every tenant: report each event that was changed or removed.', [
    'verify agents.db',
    'verify agents.db --receipts receipts.json',
    'verify agents.db --tenant acme --json',
  ])
    .argument('[store]', STORE)
    .option('--tenant <tenant>', 'verify only this tenant')
    .option('--receipts <file>', 'compare with receipts kept elsewhere; they reveal a truncated journal, a chain alone cannot')
    .option('--pages', 'check the database pages too (the default)')
    .option('--no-pages', 'check only the hash chain')
    .action(async (store, o) => done(await (await import('./commands/verify.ts')).verify(terminalOf(o.json), store, o)))

  define('rebuild', 'Rebuild all rows from the journal, and replace stored rows that differ.', [
    'rebuild agents.db --check',
    'rebuild agents.db',
  ])
    .argument('[store]', STORE)
    .option('--check', 'only compare, change nothing; exit 1 if rows differ')
    .option('--tenant <tenant>', 'rebuild only this tenant')
    .action(async (store, o) => done(await (await import('./commands/rebuild.ts')).rebuild(terminalOf(o.json), store, o)))

  define('doctor', 'Diagnose a store: check its environment, files, schema and journal, and say how to fix problems.', [
    'doctor agents.db',
    'doctor agents.db --json',
  ])
    .argument('[store]', STORE)
    .action(async (store, o) => done(await (await import('./commands/doctor.ts')).doctor(terminalOf(o.json), store)))

  define('du', 'Show disk usage: by file, table, tenant and event type.', ['du agents.db', 'du agents.db --top 50'])
    .argument('[store]', STORE)
    .option('--tenant <tenant>', 'show only this tenant')
    .option('--top <n>', 'show the n largest event types (default 10)', counting(1))
    .action(async (store, o) => done(await (await import('./commands/du.ts')).du(terminalOf(o.json), store, o)))

  define('collect', 'Collect garbage: delete values and blobs that nothing refers to.', [
    'collect agents.db --dry-run',
    'collect agents.db --tenant acme --grace 7d',
  ])
    .argument('[store]', STORE)
    .option('--tenant <tenant>', 'collect only this tenant (default: all)')
    .option('--dry-run', 'count what would be deleted, delete nothing')
    .option('--grace <duration>', 'keep what was put or named within this time (default 1d)')
    .action(async (store, o) => done(await (await import('./commands/collect.ts')).collect(terminalOf(o.json), store, o)))

  define('audit', 'Show refused writes and denied requests, newest first. --json prints one per line.', [
    'audit agents.db',
    'audit agents.db --tenant acme --last 1000 --json',
  ])
    .argument('[store]', STORE)
    .option('--tenant <tenant>', 'use this tenant (default: main)')
    .option('--last <n>', 'show the last n refusals (default 50)', counting(1, 10_000))
    .action(async (store, o) => done(await (await import('./commands/audit.ts')).audit(terminalOf(o.json), store, o)))

  define('usage', 'Show tokens and costs by source and model, over whole UTC hours.', [
    'usage agents.db',
    'usage agents.db --session support/4711 --since 1d',
    'usage agents.db --by session --by model --since 2026-01-01 --until 2026-02-01 --json',
  ])
    .argument('[store]', STORE)
    .option('--tenant <tenant>', 'show only this tenant')
    .option('--session <key or id>', 'show only this session; its tenant is main unless --tenant names another')
    .option('--by <group>', 'group by session, source, model or hour (default: source and model); can be repeated', gather)
    .option('--since <time>', 'show only hours since this time: 2026-01-31T09:00:00Z, or an age such as 15m')
    .option('--until <time>', 'show only hours before this time')
    .action(async (store, o) => done(await (await import('./commands/usage.ts')).usage(terminalOf(o.json), store, o)))

  define('migrate', 'Migrate the schema of a store, or show the pending migrations.', [
    'migrate agents.db --plan',
    'migrate agents.db',
    'migrate postgres://admin@db.example/agents --plan --sql',
  ])
    .argument('[store]', STORE)
    .option('--plan', 'show the pending migrations, change nothing')
    .option('--sql', 'with --plan on PostgreSQL: print the SQL')
    .option('--tenant-key <key>', 'register this tenant key on PostgreSQL (better: INKFAST_TENANT_KEY)')
    .action(async (store, o) => done(await (await import('./commands/migrate.ts')).migrate(terminalOf(o.json), store, o)))

  return root
}

function argumentsOf(command: Command): readonly string[] {
  if (command.commands.length > 0) return ['[verb] [store]']
  return command.registeredArguments.map((argument) => `[${argument.name()}]`)
}

function filters(command: Command): Command {
  return command
    .option('--session <key or id>', 'show only events of this session')
    .option('--run <id>', 'show only events of this run')
    .option('--type <pattern>', "show only this type, or all types with a prefix: 'plan.*'; can be repeated", gather)
    .option('--actor <actor>', 'show only events of this actor')
    .option('--after <seq>', 'show only events after this seq', counting(0))
    .option('--before <seq>', 'show only events before this seq', counting(0))
    .option('--since <time>', 'show only events since this time: 2026-01-31T09:00:00Z, or an age such as 15m')
    .option('--until <time>', 'show only events before this time')
    .option('--tenant <tenant>', 'use this tenant (default: main)')
}

const gather = (pattern: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), pattern]

function versionOf(): string {
  return (JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { version: string }).version
}
