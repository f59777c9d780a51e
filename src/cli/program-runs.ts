// The words of `inkfast runs`: each verb is a command of its own, with its own help.

import { type Command, Option } from 'commander'
import { RUN_STATES } from '../model/run.ts'
import { counting, type Define, type Done, type TerminalOf } from './define.ts'

export function defineRuns(runs: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  runs
    .usage('[list | show | tape | cancel | resolve | fork | wake] [options] [store] …')
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options] ', '')}` })

  // `--json` may stand anywhere, so the command above may have taken it.
  const jsonOf = (command: Command): boolean => command.optsWithGlobals().json ?? false
  const store = 'the store; INKFAST_URL names it when left out'

  define('list', 'List runs, newest first, with what they wait for.', [
    'runs agents.db',
    'runs list agents.db --state waiting',
    'runs list agents.db --session support/4711 --last 100 --json',
  ])
    .usage('[options] [store]')
    .argument('[words...]', store)
    .addOption(new Option('--state <state>', 'only these').choices([...RUN_STATES]))
    .option('--session <key or id>', 'only those of this session')
    .option('--name <name>', 'only those of this name; not together with --state or --session')
    .option('--last <n>', 'how many (20)', counting(1, 1000))
    .option('--cursor <cursor>', 'go on where the last list ended')
    .option('--tenant <tenant>', 'another tenant than main')
    .action(async (words, o, c) => done(await (await import('./commands/runs.ts')).listRuns(terminalOf(jsonOf(c)), words, o)))

  const verb = (name: string, what: string, examples: readonly string[], words = '<run>'): Command =>
    define(name, what, examples)
      .usage(`[options] [store] ${words}`)
      .argument('[words...]', `${store}; then ${words}`)
      .option('--tenant <tenant>', 'another tenant than main')
  const byWhom = (command: Command): Command => command.option('--actor <actor>', 'on whose behalf: an opaque id')

  verb('show', 'Show everything about a run: where it stands, who holds it, what it waits for, what it used.', [
    'runs show agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2',
  ]).action(async (words, o, c) => done(await (await import('./commands/runs.ts')).showRun(terminalOf(jsonOf(c)), words, o)))

  verb('tape', 'Show what a run asked for and what came of it, in order. --json prints one event a line.', [
    'runs tape agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2',
  ]).action(async (words, o, c) => done(await (await import('./commands/runs-tape.ts')).showTape(terminalOf(jsonOf(c)), words, o)))

  byWhom(
    verb('cancel', 'End a run from outside. Whoever holds it writes nothing more.', [
      "runs cancel agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 --reason 'the order was withdrawn'",
    ]).option('--reason <why>', 'why; kept in the journal'),
  ).action(async (words, o, c) => done(await (await import('./commands/runs-change.ts')).cancelRun(terminalOf(jsonOf(c)), words, o)))

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
      .option('--error <text>', 'it failed, and this is why'),
  ).action(async (words, o, c) => done(await (await import('./commands/runs-change.ts')).resolveEffect(terminalOf(jsonOf(c)), words, o)))

  byWhom(
    verb('fork', 'Make another run that shares what was recorded up to a seq; the rest happens anew. Nobody holds it.', [
      'runs fork agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 --at 4711',
      'runs fork agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2 --at 4711 --key second-try',
    ])
      .option('--at <seq>', 'the last event that both share', counting(0))
      .option('--key <key>', 'the key of the fork; one is made up when left out'),
  ).action(async (words, o, c) => done(await (await import('./commands/runs-change.ts')).forkRun(terminalOf(jsonOf(c)), words, o)))

  byWhom(verb('wake', 'Have a run that waits looked at again by a node, now.', ['runs wake agents.db 01K1Y2Z3A4B5C6D7E8F9G0H1J2'])).action(
    async (words, o, c) => done(await (await import('./commands/runs-change.ts')).wakeRun(terminalOf(jsonOf(c)), words, o)),
  )
}
