// Defines `inkfast triggers`.

import { type Command, Option } from 'commander'
import { TRIGGER_STATES } from '../model/trigger.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineTriggers(triggers: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, prunes, does } = verbsOf(triggers, define, terminalOf, done)
  const looking = () => import('./commands/triggers.ts')
  const changing = () => import('./commands/triggers-change.ts')
  triggers.usage('[list | show | history | firing | fire | disable | enable | delete | prune] [options] [store] …')

  paged(
    ofTenant(
      verb('list', 'List triggers, newest first, with their source, queue and match.', [
        'triggers agents.db',
        'triggers list agents.db --source orders --state enabled',
      ]),
    )
      .option('--source <source>', 'show only triggers of this source')
      .addOption(new Option('--state <state>', 'show only triggers in this state').choices([...TRIGGER_STATES])),
    20,
  ).action(does(async () => (await looking()).listTriggers))

  paged(
    ofTenant(
      verb(
        'show',
        'Show a trigger, its last firings and the state of each delivery.',
        ['triggers show agents.db mail', 'triggers show agents.db mail --last 100'],
        '<trigger>',
      ),
    ),
    10,
  ).action(does(async () => (await looking()).showTrigger))

  paged(
    ofTenant(
      verb('history', 'List firings, newest first, including those that matched no trigger.', [
        'triggers history agents.db --source orders',
        'triggers history agents.db --trigger mail --json',
      ]),
    )
      .option('--source <source>', 'show only firings of this source')
      .option('--trigger <trigger>', 'show only firings delivered to this trigger, deleted or not; not with --source'),
    20,
  ).action(does(async () => (await looking()).showHistory))

  ofTenant(
    verb(
      'firing',
      'Show a firing: its payload and the state of each delivery.',
      ['triggers firing agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2'],
      '<firing>',
    ),
  ).action(does(async () => (await looking()).showFiring))

  byWhom(
    ofTenant(
      verb(
        'fire',
        'Fire a source: record the payload and reserve a delivery for every trigger that matches.',
        [`triggers fire agents.db orders '{"order":4711,"state":"paid"}' --key order/4711/paid`],
        '<source> <json>',
      ),
    ).option('--key <key>', 'idempotency key: the same key and payload fire once'),
  ).action(does(async () => (await changing()).fireSource))

  const turn = (name: 'disable' | 'enable' | 'delete', what: string) =>
    byWhom(
      ofTenant(verb(name, what, [`triggers ${name} agents.db mail`], '<trigger>')).option(
        '--expect <revision>',
        'fail if the trigger is not at this revision',
        counting(0),
      ),
    )
  turn('disable', 'Disable a trigger. Reserved deliveries are still made.').action(does(async () => (await changing()).disableTrigger))
  turn('enable', 'Enable a trigger for firings from now on.').action(does(async () => (await changing()).enableTrigger))
  turn('delete', 'Delete a trigger. Reserved deliveries are still made, and its history stays.').action(
    does(async () => (await changing()).deleteTrigger),
  )

  prunes('Remove firings that were settled before a time, with their deliveries.', 'settled', 'pruneFirings')
}
