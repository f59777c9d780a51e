// The words of `inkfast queue` and `inkfast cron`.

import { type Command, Option } from 'commander'
import { counting, type Define, type Done, type TerminalOf, verbsOf, whole } from './define.ts'

const ITEM = '01K1Y2Z3A4B5C6D7E8F9G0H1J2'

export function defineQueue(queue: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, byWhom, paged, does } = verbsOf(queue, define, terminalOf, done)
  const looking = () => import('./commands/queue.ts')
  const changing = () => import('./commands/queue-change.ts')
  queue.usage('[stats | list | show | offer | cancel | redrive] [options] [store] …')

  verb('stats', 'Show every queue that holds something: how much is ready, delayed, claimed and dead.', [
    'queue agents.db',
    'queue agents.db --all',
  ])
    .option('--all', 'also those that the store keeps for itself: runs/…, clock/…, processes/…')
    .action(does(async () => (await looking()).showQueues))

  paged(
    verb(
      'list',
      'List what is in a queue: with a state in the order it is taken, without one by its time.',
      ['queue list agents.db outbox', 'queue list agents.db outbox --state dead --last 100 --json'],
      '<queue>',
    ).addOption(new Option('--state <state>', 'only these').choices(['ready', 'claimed', 'dead'])),
    20,
  ).action(does(async () => (await looking()).listItems))

  verb(
    'show',
    'Show everything about an item: its payload, how often it was tried, why it failed, who holds it, when it is due.',
    [`queue show agents.db outbox ${ITEM}`],
    '<queue> <item>',
  ).action(does(async () => (await looking()).showItem))

  byWhom(
    offering(
      verb(
        'offer',
        'Offer an item. Whoever works on the queue takes it up; this command does not.',
        [
          `queue offer agents.db outbox '{"to":"ada"}'`,
          `queue offer agents.db outbox '{"to":"ada"}' --key welcome/ada --delay 5m --group ada`,
        ],
        '<queue> <json>',
      )
        .option('--key <key>', 'the same key and payload: the same item, also after it is done')
        .option('--delay <duration>', 'not before so long from now: 30s, 5m, 2h'),
    ),
  ).action(does(async () => (await changing()).offerItem))

  byWhom(
    verb(
      'cancel',
      'Take an item out of its queue. Whoever holds it has lost it.',
      [`queue cancel agents.db outbox ${ITEM} --reason 'the order was withdrawn'`],
      '<queue> <item>',
    ).option('--reason <why>', 'why; kept in the journal'),
  ).action(does(async () => (await changing()).cancelItem))

  byWhom(
    verb(
      'redrive',
      'Offer a dead item anew, with all its attempts; without an item, all that are dead.',
      ['queue redrive agents.db outbox', `queue redrive agents.db outbox ${ITEM}`, 'queue redrive agents.db outbox --most 100'],
      '<queue> [item]',
    ).option('--most <n>', 'at most so many of those that are dead', counting(1)),
  ).action(does(async () => (await changing()).redriveItems))
}

/** How items are offered, by hand or by a job. */
const offering = (command: Command): Command =>
  command
    .option('--priority <n>', 'higher comes first; 0 unless said', whole)
    .option('--group <group>', 'items of one group come in order, one at a time')
    .option('--attempts <n>', 'how often it may be tried (5)', counting(1))
    .option('--backoff <duration>', 'how long it rests after its first failure, then each time twice as long (1s)')

export function defineCron(cron: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, byWhom, paged, prunes, does } = verbsOf(cron, define, terminalOf, done)
  const looking = () => import('./commands/cron.ts')
  const changing = () => import('./commands/cron-change.ts')
  cron.usage('[list | show | set | pause | resume | run | backfill | delete | prune] [options] [store] …')

  paged(
    verb('list', 'List jobs, the newest first: when they come up next, and what came of the last time.', [
      'cron agents.db',
      'cron list agents.db --state paused --json',
    ]).addOption(new Option('--state <state>', 'only these').choices(['active', 'paused', 'over'])),
    20,
  ).action(does(async () => (await looking()).listJobs))

  paged(
    verb(
      'show',
      'Show everything about a job: its definition, its next five times, and what came of the last ten.',
      ['cron show agents.db digest', 'cron show agents.db digest --last 100'],
      '<job>',
    ),
    10,
  ).action(does(async () => (await looking()).showJob))

  byWhom(
    offering(
      verb(
        'set',
        'Make a job, or change it: all of its definition is what is said here. The same again changes nothing.',
        [
          `cron set agents.db digest --cron '0 9 * * 1-5' --zone Europe/Paris --queue digest --payload '{"to":"all"}'`,
          'cron set agents.db poll --every 15m --jitter 30s --overlap queueOne --queue poll',
          'cron set agents.db launch --at 2030-01-01T09:00:00Z --queue launch',
        ],
        '<job>',
      )
        .option('--cron <line>', "five fields, or six with seconds first: '0 9 * * 1-5'")
        .option('--zone <zone>', 'the IANA zone of the cron line (UTC)')
        .option('--every <duration>', 'an interval: 30s, 15m, 2h, 1d')
        .addOption(new Option('--from <what>', 'what an interval is counted from (start)').choices(['start', 'finish']))
        .option('--anchor <time>', 'the first time of an interval: 2026-01-31T09:00:00Z')
        .option('--at <time>', 'once: 2030-01-01T09:00:00Z')
        .option('--queue <queue>', 'each time is offered here')
        .option('--payload <json>', 'what each item says')
        .option('--overlap <what>', 'while the one before still runs: forbid, replace, queueOne or allow (forbid)')
        .option('--missed <what>', 'what nobody was there to start: skip, once or all (once)')
        .option('--catch-up <duration>', 'how late what was missed may still start')
        .option('--jitter <duration>', 'each starts up to so much later')
        .option('--pause-after <n>', 'pause it by itself after so many failures in a row', counting(1)),
    ),
  ).action(does(async () => (await changing()).setJob))

  byWhom(
    verb('pause', 'Let a job come up no more until it is resumed.', ["cron pause agents.db digest --reason 'holidays'"], '<job>').option(
      '--reason <why>',
      'why; kept in the journal',
    ),
  ).action(does(async () => (await changing()).pauseJob))

  byWhom(
    verb(
      'resume',
      'Let a paused job come up again, from its next time on. What it would have done meanwhile is not made up for.',
      ['cron resume agents.db digest'],
      '<job>',
    ),
  ).action(does(async () => (await changing()).resumeJob))

  byWhom(
    verb('run', 'Offer one more occurrence of a job now, whatever runs. A node takes it up.', ['cron run agents.db digest'], '<job>'),
  ).action(does(async () => (await changing()).runJob))

  byWhom(
    verb(
      'backfill',
      'Offer every time of a period that has not come up before.',
      ['cron backfill agents.db digest --from 2026-01-01 --to 2026-01-31', 'cron backfill agents.db poll --from 2h --to 1h'],
      '<job>',
    )
      .option('--from <time>', 'from this time on: 2026-01-31T09:00:00Z, a day in UTC, or how long ago: 2h')
      .option('--to <time>', 'up to this time; 0s is now'),
  ).action(does(async () => (await changing()).backfillJob))

  byWhom(
    verb('delete', 'End a job. What runs goes on; its history stays in the journal.', ['cron delete agents.db digest'], '<job>'),
  ).action(does(async () => (await changing()).deleteJob))

  prunes('Forget what came of times that finished before a time.', 'finished', 'pruneOccurrences')
}
