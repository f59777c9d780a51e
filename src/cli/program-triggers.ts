// The words of `inkfast triggers`.

import { type Command, Option } from 'commander'
import { TRIGGER_STATES } from '../model/trigger.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineTriggers(triggers: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, byWhom, paged, prunes, does } = verbsOf(triggers, define, terminalOf, done)
  const looking = () => import('./commands/triggers.ts')
  const changing = () => import('./commands/triggers-change.ts')
  triggers.usage('[list | show | history | firing | fire | disable | enable | delete | prune] [options] [store] …')

  paged(
    verb('list', 'List triggers, the newest first: what they listen to and what they are for.', [
      'triggers agents.db',
      'triggers list agents.db --source orders --state enabled',
    ])
      .option('--source <source>', 'only those of this source')
      .addOption(new Option('--state <state>', 'only these').choices([...TRIGGER_STATES])),
    20,
  ).action(does(async () => (await looking()).listTriggers))

  paged(
    verb(
      'show',
      'Show everything about a trigger, what fired for it, and what became of each delivery.',
      ['triggers show agents.db mail', 'triggers show agents.db mail --last 100'],
      '<trigger>',
    ),
    10,
  ).action(does(async () => (await looking()).showTrigger))

  paged(
    verb('history', 'List what fired, the newest first, whether anybody was told or not.', [
      'triggers history agents.db --source orders',
      'triggers history agents.db --trigger mail --json',
    ])
      .option('--source <source>', 'only what this source fired')
      .option('--trigger <trigger>', 'only what this trigger was told of, also one that was deleted; not together with --source'),
    20,
  ).action(does(async () => (await looking()).showHistory))

  verb(
    'firing',
    'Show one firing: its payload, and what became of each delivery.',
    ['triggers firing agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2'],
    '<firing>',
  ).action(does(async () => (await looking()).showFiring))

  byWhom(
    verb(
      'fire',
      'Say that something happened at a source. Every trigger that is for it is told.',
      [`triggers fire agents.db orders '{"order":4711,"state":"paid"}' --key order/4711/paid`],
      '<source> <json>',
    ).option('--key <key>', 'the same key and payload: the first answer again'),
  ).action(does(async () => (await changing()).fireSource))

  const turn = (name: 'disable' | 'enable' | 'delete', what: string) =>
    byWhom(
      verb(name, what, [`triggers ${name} agents.db mail`], '<trigger>').option(
        '--expect <revision>',
        'refused where it was changed since this revision',
        counting(0),
      ),
    )
  turn('disable', 'Tell a trigger of nothing more until it is enabled. What is reserved goes on.').action(
    does(async () => (await changing()).disableTrigger),
  )
  turn('enable', 'Tell a trigger again of what fires from now on.').action(does(async () => (await changing()).enableTrigger))
  turn('delete', 'Take a trigger away. What is reserved goes on, and its history stays.').action(
    does(async () => (await changing()).deleteTrigger),
  )

  prunes('Forget what fired and was dealt with before a time, with its deliveries.', 'dealt with', 'pruneFirings')
}
