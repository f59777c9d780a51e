// The commands, their options and their help. What they do is loaded when one is called.

import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { counting, type Define, type Done, type TerminalOf } from './define.ts'
import { defineApprovals } from './program-approvals.ts'
import { defineProcesses } from './program-processes.ts'
import { defineRuns } from './program-runs.ts'
import { defineTriggers } from './program-triggers.ts'
import { defineCron, defineQueue } from './program-work.ts'

const EXITS = `
Exit codes:
  0 fine   1 what was checked is not sound   2 wrong usage   3 missing or may not be read
  4 damaged, or not a store   5 busy, not available, newer schema   6 unexpected`

/** What is done with several of a kind when nothing else is said. */
const DEFAULT_VERB = 'list'

const STORE = 'the file that holds the journal, or postgres://…; INKFAST_URL when left out'

export function program(terminalOf: TerminalOf, done: Done): Command {
  const root = new Command('inkfast')
    .description('Agent runs, in permanent ink: look at a journal, prove it, and keep it sound.')
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

  define('demo', 'Kill an agent at the worst moments and see another go on; tamper with a copy and see it named.', [
    'demo',
    'demo --kills 5 --keep',
    'demo --json',
  ])
    .option('--keep', 'keep the folder with the stores and the outbox it made')
    .option('--kills <n>', 'how often the many writers are killed', counting(1, 50), 3)
    .action(async (o) => done(await (await import('./commands/demo.ts')).demo(terminalOf(o.json), o)))

  filters(
    define('tail', 'Show the last events, then what is appended, as it is appended. Ctrl-C ends it.', [
      'tail agents.db',
      "tail agents.db --type 'tool.*' --session support/4711",
      'tail agents.db --from 1 --json',
    ]).argument('[store]', STORE),
  )
    .option('--from <seq>', 'begin with this event', counting(0))
    .option('--last <n>', 'how many earlier events to show first (10)', counting(0))
    .action(async (store, o) => done(await (await import('./commands/tail.ts')).tail(terminalOf(o.json), store, o)))

  filters(
    define('events', 'Show events: the last 20, unless asked otherwise. --json prints one event a line.', [
      'events agents.db',
      'events agents.db --session support/4711 --first 100',
      "events agents.db --type 'plan.*' --type model.called --since 2h",
      'events agents.db --after 100 --before 200 --last 1000 --json',
    ]).argument('[store]', STORE),
  )
    .option('--last <n>', 'the newest so many, oldest of them first (20)', counting(1))
    .option('--first <n>', 'the oldest so many', counting(1))
    .action(async (store, o) => done(await (await import('./commands/events.ts')).events(terminalOf(o.json), store, o)))

  define('sessions', 'List sessions, newest first, or show one.', [
    'sessions agents.db',
    'sessions agents.db list --state open --owner user_01H',
    'sessions agents.db show support/4711',
  ])
    .usage('[options] [store] [list | show <key or id>]')
    .argument('[words...]', 'the store (INKFAST_URL when left out), then list, or show and a key or id')
    .addOption(new Option('--state <state>', 'only these').choices(['open', 'archived', 'deleted']))
    .option('--owner <owner>', 'only those of this owner')
    .option('--last <n>', 'how many (20)', counting(1, 1000))
    .option('--cursor <cursor>', 'go on where the last list ended')
    .option('--tenant <tenant>', 'another tenant than main')
    .action(async (words, o) => done(await (await import('./commands/sessions.ts')).sessions(terminalOf(o.json), words, o)))

  const runs = define('runs', 'List runs and what they wait for, show one and its tape; cancel, resolve, fork or wake it.', [
    'runs agents.db --state waiting',
    'runs show agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2',
    'runs tape --help',
  ])
  defineRuns(runs, within(runs), terminalOf, done)

  const queue = define('queue', 'Show queues and what is in them; offer an item, cancel one, redrive dead ones.', [
    'queue agents.db',
    'queue list agents.db outbox --state dead',
    'queue redrive agents.db outbox',
  ])
  defineQueue(queue, within(queue, 'stats'), terminalOf, done)

  const cron = define('cron', 'List jobs by the clock, show one and what came of its times; set, pause, resume, run or delete it.', [
    'cron agents.db',
    'cron show agents.db digest',
    'cron set --help',
  ])
  defineCron(cron, within(cron), terminalOf, done)

  const triggers = define('triggers', 'List triggers, show one and what became of each delivery; fire, disable, enable or delete.', [
    'triggers agents.db',
    'triggers show agents.db mail',
    'triggers history agents.db --source orders',
  ])
  defineTriggers(triggers, within(triggers), terminalOf, done)

  const approvals = define(
    'approvals',
    'List approvals, show one and its history; approve or deny it, export all of them and verify an export.',
    [
      'approvals agents.db --state pending',
      'approvals approve agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 --by user/grace',
      'approvals export agents.db > approvals.ndjson',
    ],
  )
  defineApprovals(approvals, within(approvals), terminalOf, done)

  const processes = define(
    'processes',
    'List agent processes, show one, its events and handles; cancel or abandon it, grant, revoke and prune.',
    ['processes agents.db --live', 'processes show agents.db crawl/4711', "processes cancel agents.db crawl/4711 --reason 'not needed'"],
  )
  defineProcesses(processes, within(processes), terminalOf, done)

  define('tenants', 'List tenants and their states; suspend one, resume it, or delete it for good.', [
    'tenants agents.db',
    "tenants suspend agents.db acme --reason 'invoice 81 is not paid'",
    "tenants resume agents.db acme --reason 'it was paid'",
  ])
    .usage('[options] [store] | suspend [store] <tenant> | resume [store] <tenant> | delete [store] <tenant>')
    .argument('[words...]', 'the store (INKFAST_URL when left out); or suspend, resume or delete, the store and a tenant')
    .option('--reason <why>', 'why it is suspended, resumed or deleted; kept in its journal')
    .option('--actor <actor>', 'on whose behalf: an opaque id')
    .action(async (words, o) => done(await (await import('./commands/tenants.ts')).tenants(terminalOf(o.json), words, o)))

  define('verify', 'Walk the hash chain of every tenant and say whether it is still what was written.', [
    'verify agents.db',
    'verify agents.db --receipts receipts.json',
    'verify agents.db --tenant acme --json',
  ])
    .argument('[store]', STORE)
    .option('--tenant <tenant>', 'only this tenant')
    .option('--receipts <file>', 'receipts kept elsewhere: they show a cut tail, which a chain alone cannot')
    .option('--pages', 'look at the pages of the file too (the default)')
    .option('--no-pages', 'only the chain')
    .action(async (store, o) => done(await (await import('./commands/verify.ts')).verify(terminalOf(o.json), store, o)))

  define('rebuild', 'Fold the rows anew from the journal, and put them in place where they differ.', [
    'rebuild agents.db --check',
    'rebuild agents.db',
  ])
    .argument('[store]', STORE)
    .option('--check', 'compare only, change nothing; exit 1 when not equal')
    .option('--tenant <tenant>', 'only this tenant')
    .action(async (store, o) => done(await (await import('./commands/rebuild.ts')).rebuild(terminalOf(o.json), store, o)))

  define('doctor', 'Look a store over from the outside in, and say what is wrong and what to do.', [
    'doctor agents.db',
    'doctor agents.db --json',
  ])
    .argument('[store]', STORE)
    .action(async (store, o) => done(await (await import('./commands/doctor.ts')).doctor(terminalOf(o.json), store)))

  define('du', 'Show what takes the space: on disk, by table, by tenant and by type of event.', ['du agents.db', 'du agents.db --top 50'])
    .argument('[store]', STORE)
    .option('--tenant <tenant>', 'only this tenant')
    .option('--top <n>', 'how many types (10)', counting(1))
    .action(async (store, o) => done(await (await import('./commands/du.ts')).du(terminalOf(o.json), store, o)))

  define('migrate', 'Bring the schema of a store up to date, or show what that would do.', [
    'migrate agents.db --plan',
    'migrate agents.db',
    'migrate postgres://admin@db.example/agents --plan --sql',
  ])
    .argument('[store]', STORE)
    .option('--plan', 'show it, change nothing')
    .option('--sql', 'with --plan: show the SQL of what is missing, of a database')
    .option('--tenant-key <key>', 'the key that nodes sign tenants with, of a database (INKFAST_TENANT_KEY)')
    .action(async (store, o) => done(await (await import('./commands/migrate.ts')).migrate(terminalOf(o.json), store, o)))

  return root
}

function filters(command: Command): Command {
  return command
    .option('--session <key or id>', 'only events of this session')
    .option('--run <id>', 'only events of this run')
    .option('--type <pattern>', "only this type, or everything under a prefix: 'plan.*'; may be given again", gather)
    .option('--actor <actor>', 'only events of this actor')
    .option('--after <seq>', 'only events beyond this one', counting(0))
    .option('--before <seq>', 'only events before this one', counting(0))
    .option('--since <time>', 'from this time on: 2026-01-31T09:00:00Z, or how long ago: 15m')
    .option('--until <time>', 'before this time')
    .option('--tenant <tenant>', 'another tenant than main')
}

const gather = (pattern: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), pattern]

function versionOf(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
