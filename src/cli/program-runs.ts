// The words of `inkfast runs`.

import { type Command, Option } from 'commander'
import { RUN_STATES } from '../model/run.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineRuns(runs: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, byWhom, paged, does } = verbsOf(runs, define, terminalOf, done)
  const looking = () => import('./commands/runs.ts')
  const changing = () => import('./commands/runs-change.ts')
  runs.usage('[list | show | tape | cancel | resolve | fork | wake] [options] [store] …')

  const list = verb('list', 'List runs, newest first, with what they wait for.', [
    'runs agents.db',
    'runs list agents.db --state waiting',
    'runs list agents.db --session support/4711 --last 100 --json',
  ])
    .addOption(new Option('--state <state>', 'only these').choices([...RUN_STATES]))
    .option('--session <key or id>', 'only those of this session')
    .option('--name <name>', 'only those of this name; not together with --state or --session')
  paged(list, 20).action(does(async () => (await looking()).listRuns))

  verb(
    'show',
    'Show everything about a run: where it stands, who holds it, what it waits for, what it used.',
    ['runs show agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2'],
    '<run>',
  ).action(does(async () => (await looking()).showRun))

  verb(
    'tape',
    'Show what a run asked for and what came of it, in order. --json prints one event a line.',
    ['runs tape agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2'],
    '<run>',
  ).action(does(async () => (await import('./commands/runs-tape.ts')).showTape))

  byWhom(
    verb(
      'cancel',
      'End a run from outside. Whoever holds it writes nothing more.',
      ["runs cancel agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 --reason 'the order was withdrawn'"],
      '<run>',
    ).option('--reason <why>', 'why; kept in the journal'),
  ).action(does(async () => (await changing()).cancelRun))

  byWhom(
    verb(
      'resolve',
      'Say how an effect ended that was begun and of which nothing is known; the run goes on with that.',
      [
        `runs resolve agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 'call model' --result '{"text":"hello"}'`,
        "runs resolve agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 'send mail' --error 'the server never got it'",
      ],
      '<run> <effect>',
    )
      .option('--result <json>', 'it was done, and this came of it')
      .option('--error <text>', 'it failed, and this is why')
      .option('--branch <branch>', 'the one in this branch, where several of that name wait')
      .option('--ordinal <n>', 'the so-manieth of that name there', counting(1)),
  ).action(does(async () => (await changing()).resolveEffect))

  byWhom(
    verb(
      'fork',
      'Make another run that shares what was recorded up to a seq; the rest happens anew. Nobody holds it.',
      [
        'runs fork agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 --at 4711',
        'runs fork agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 --at 4711 --key second-try',
      ],
      '<run>',
    )
      .option('--at <seq>', 'the last event that both share', counting(0))
      .option('--key <key>', 'the key of the fork; one is made up when left out'),
  ).action(does(async () => (await changing()).forkRun))

  byWhom(
    verb('wake', 'Have a run that waits looked at again by a node, now.', ['runs wake agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2'], '<run>'),
  ).action(does(async () => (await changing()).wakeRun))
}
