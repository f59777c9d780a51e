// Defines `inkfast runs`.

import { type Command, Option } from 'commander'
import { RUN_STATES } from '../model/run.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

const ID = '01K1Y2Z3A4B5C6D7E8F9G0H1J2'

export function defineRuns(runs: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, does } = verbsOf(runs, define, terminalOf, done)
  const looking = () => import('./commands/runs.ts')
  const changing = () => import('./commands/runs-change.ts')
  runs.usage('[list | show | tape | cancel | resolve | fork | wake] [options] [store] …')

  const list = verb('list', 'List runs, newest first, and what they wait for.', [
    'runs agents.db',
    'runs list agents.db --state waiting',
    'runs list agents.db --session support/4711 --last 100 --json',
  ])
    .addOption(new Option('--state <state>', 'show only runs in this state').choices([...RUN_STATES]))
    .option('--session <key or id>', 'show only runs of this session')
    .option('--name <name>', 'show only runs with this name; not with --state or --session')
  paged(ofTenant(list), 20).action(does(async () => (await looking()).listRuns))

  ofTenant(verb('show', 'Show a run: its state, lease holder, waits and usage.', [`runs show agents.db ${ID}`], '<run>')).action(
    does(async () => (await looking()).showRun),
  )

  ofTenant(
    verb('tape', 'Show the recorded steps of a run in order. --json prints one event per line.', [`runs tape agents.db ${ID}`], '<run>'),
  ).action(does(async () => (await import('./commands/runs-tape.ts')).showTape))

  byWhom(
    ofTenant(
      verb(
        'cancel',
        'Cancel a run. Its lease holder can write nothing more for it.',
        [`runs cancel agents.db ${ID} --reason 'the order was withdrawn'`],
        '<run>',
      ),
    ).option('--reason <why>', 'keep this reason in the journal (required)'),
  ).action(does(async () => (await changing()).cancelRun))

  byWhom(
    ofTenant(
      verb(
        'resolve',
        'Record the outcome of an effect that was interrupted by a crash; the run continues with it.',
        [
          `runs resolve agents.db ${ID} 'call model' --result '{"text":"hello"}'`,
          `runs resolve agents.db ${ID} 'send mail' --error 'the server never got it'`,
        ],
        '<run> <effect>',
      ),
    )
      .option('--result <json>', 'record that the effect succeeded with this result')
      .option('--error <text>', 'record that the effect failed with this error')
      .option('--branch <branch>', 'pick the effect in this branch, if several have the name')
      .option('--ordinal <n>', 'pick the nth effect with this name in its branch', counting(1))
      .option('--epoch <n>', 'pick the effect after this many checkpoints (default: the current epoch)', counting(0)),
  ).action(does(async () => (await changing()).resolveEffect))

  byWhom(
    ofTenant(
      verb(
        'fork',
        'Create a run that shares the recorded steps up to a seq and executes the rest again. No worker holds it yet.',
        [`runs fork agents.db ${ID} --at 4711`, `runs fork agents.db ${ID} --at 4711 --key second-try`],
        '<run>',
      ),
    )
      .option('--at <seq>', 'share the events up to and including this seq (required)', counting(0))
      .option('--key <key>', 'key of the new run (default: a generated one)'),
  ).action(does(async () => (await changing()).forkRun))

  byWhom(ofTenant(verb('wake', 'Make a node look at a waiting run again, now.', [`runs wake agents.db ${ID}`], '<run>'))).action(
    does(async () => (await changing()).wakeRun),
  )
}
