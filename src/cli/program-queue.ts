// Defines `inkfast queue`.

import { type Command, Option } from 'commander'
import { counting, type Define, type Done, type TerminalOf, verbsOf, whole } from './define.ts'

const ITEM = '01K1Y2Z3A4B5C6D7E8F9G0H1J2'

export function defineQueue(queue: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, does } = verbsOf(queue, define, terminalOf, done)
  const looking = () => import('./commands/queue.ts')
  const changing = () => import('./commands/queue-change.ts')
  queue.usage('[stats | list | show | offer | cancel | redrive] [options] [store] …')

  ofTenant(
    verb('stats', 'Count the ready, delayed, claimed and dead items of every queue that is not empty.', [
      'queue agents.db',
      'queue stats agents.db --all',
    ]),
  )
    .option('--all', 'include the internal queues: runs/…, clock/…, processes/…')
    .action(does(async () => (await looking()).showQueues))

  paged(
    ofTenant(
      verb(
        'list',
        'List the items of a queue by due time, or with --state in the order workers claim them.',
        ['queue list agents.db outbox', 'queue list agents.db outbox --state dead --last 100 --json'],
        '<queue>',
      ),
    ).addOption(new Option('--state <state>', 'show only items in this state').choices(['ready', 'claimed', 'dead'])),
    20,
  ).action(does(async () => (await looking()).listItems))

  ofTenant(
    verb(
      'show',
      'Show an item: its payload, attempts, last error, claim holder and due time.',
      [`queue show agents.db outbox ${ITEM}`],
      '<queue> <item>',
    ),
  ).action(does(async () => (await looking()).showItem))

  byWhom(
    offering(
      ofTenant(
        verb(
          'offer',
          'Add an item to a queue. A worker takes it up; this command does not.',
          [
            `queue offer agents.db outbox '{"to":"ada"}'`,
            `queue offer agents.db outbox '{"to":"ada"}' --key welcome/ada --delay 5m --group ada`,
          ],
          '<queue> <json>',
        ),
      )
        .option('--key <key>', 'idempotency key: the same key and payload make one item, even after it is done')
        .option('--delay <duration>', 'delay before the item becomes due: 30s, 5m, 2h'),
    ),
  ).action(does(async () => (await changing()).offerItem))

  byWhom(
    ofTenant(
      verb(
        'cancel',
        'Remove an item from its queue. A worker that holds it loses its claim.',
        [`queue cancel agents.db outbox ${ITEM} --reason 'the order was withdrawn'`],
        '<queue> <item>',
      ),
    ).option('--reason <why>', 'keep this reason in the journal (required)'),
  ).action(does(async () => (await changing()).cancelItem))

  byWhom(
    ofTenant(
      verb(
        'redrive',
        'Make a dead item (dead letter) ready again with all its attempts; without an item, all dead items.',
        ['queue redrive agents.db outbox', `queue redrive agents.db outbox ${ITEM}`, 'queue redrive agents.db outbox --most 100'],
        '<queue> [item]',
      ),
    ).option('--most <n>', 'redrive at most n dead items', counting(1)),
  ).action(does(async () => (await changing()).redriveItems))
}

/** Adds the options of an item, for `queue offer` and `cron set`. */
export const offering = (command: Command): Command =>
  command
    .option('--priority <n>', 'items with a higher priority are claimed first (default 0)', whole)
    .option('--group <group>', 'items of one group are worked on in order, one at a time')
    .option('--attempts <n>', 'number of attempts before the item is dead (default 5)', counting(1))
    .option('--backoff <duration>', 'delay before the first retry; doubles with each retry (default 1s)')
