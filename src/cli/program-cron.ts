// Defines `inkfast cron`.

import { type Command, Option } from 'commander'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'
import { offering } from './program-queue.ts'

export function defineCron(cron: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, prunes, does } = verbsOf(cron, define, terminalOf, done)
  const looking = () => import('./commands/cron.ts')
  const changing = () => import('./commands/cron-change.ts')
  cron.usage('[list | show | set | pause | resume | run | backfill | delete | prune] [options] [store] …')

  paged(
    ofTenant(
      verb('list', 'List cron jobs, newest first, with their next and last occurrence.', [
        'cron agents.db',
        'cron list agents.db --state paused --json',
      ]),
    ).addOption(new Option('--state <state>', 'show only jobs in this state').choices(['active', 'paused', 'over'])),
    20,
  ).action(does(async () => (await looking()).listJobs))

  paged(
    ofTenant(
      verb(
        'show',
        'Show a job: its definition, its next five occurrences and the outcome of its last ones.',
        ['cron show agents.db digest', 'cron show agents.db digest --last 100'],
        '<job>',
      ),
    ),
    10,
  ).action(does(async () => (await looking()).showJob))

  byWhom(
    offering(
      ofTenant(
        verb(
          'set',
          'Create a job, or replace its definition. Setting the same definition again changes nothing.',
          [
            `cron set agents.db digest --cron '0 9 * * 1-5' --zone Europe/Paris --queue digest --payload '{"to":"all"}'`,
            'cron set agents.db poll --every 15m --jitter 30s --overlap queueOne --queue poll',
            'cron set agents.db launch --at 2030-01-01T09:00:00Z --queue launch',
          ],
          '<job>',
        ),
      )
        .option('--cron <expression>', "cron expression with five fields, or six with seconds first: '0 9 * * 1-5'")
        .option('--zone <zone>', 'IANA time zone of the cron expression (default UTC)')
        .option('--every <duration>', 'interval: 30s, 15m, 2h, 1d')
        .addOption(
          new Option('--from <what>', 'count the interval from the start or the finish (default start)').choices(['start', 'finish']),
        )
        .option('--anchor <time>', 'first occurrence of an interval: 2026-01-31T09:00:00Z')
        .option('--at <time>', 'run once at this time: 2030-01-01T09:00:00Z')
        .option('--queue <queue>', 'offer each occurrence to this queue (required)')
        .option('--payload <json>', 'payload of each item')
        .option('--overlap <what>', 'if the last occurrence still runs: forbid, replace, queueOne or allow (default forbid)')
        .option('--missed <what>', 'if occurrences were missed: skip, once or all (default once)')
        .option('--catch-up <duration>', 'start missed occurrences at most this late')
        .option('--jitter <duration>', 'delay each occurrence by a random time up to this')
        .option('--pause-after <n>', 'pause the job after n failures in a row', counting(1)),
    ),
  ).action(does(async () => (await changing()).setJob))

  byWhom(
    ofTenant(verb('pause', 'Pause a job until it is resumed.', ["cron pause agents.db digest --reason 'holidays'"], '<job>')).option(
      '--reason <why>',
      'keep this reason in the journal (required)',
    ),
  ).action(does(async () => (await changing()).pauseJob))

  byWhom(
    ofTenant(
      verb(
        'resume',
        'Resume a paused job from its next occurrence on. Occurrences missed during the pause are not made up.',
        ['cron resume agents.db digest'],
        '<job>',
      ),
    ),
  ).action(does(async () => (await changing()).resumeJob))

  byWhom(
    ofTenant(
      verb('run', 'Offer one more occurrence now, even if another one runs. A worker takes it up.', ['cron run agents.db digest'], '<job>'),
    ),
  ).action(does(async () => (await changing()).runJob))

  byWhom(
    ofTenant(
      verb(
        'backfill',
        'Offer every past occurrence of a period that was not offered before.',
        ['cron backfill agents.db digest --from 2026-01-01 --to 2026-01-31', 'cron backfill agents.db poll --from 2h --to 1h'],
        '<job>',
      ),
    )
      .option('--from <time>', 'start of the period: 2026-01-31T09:00:00Z, a day in UTC, or an age such as 2h')
      .option('--to <time>', 'end of the period; 0s is now'),
  ).action(does(async () => (await changing()).backfillJob))

  byWhom(
    ofTenant(
      verb('delete', 'Delete a job. A running occurrence finishes, and the history stays.', ['cron delete agents.db digest'], '<job>'),
    ),
  ).action(does(async () => (await changing()).deleteJob))

  prunes('Remove occurrences that finished before a time.', 'that finished', 'pruneOccurrences')
}
