// The words of `inkfast processes`.

import { type Command, Option } from 'commander'
import { PROCESS_STATES } from '../model/process.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineProcesses(processes: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, byWhom, paged, prunes, does } = verbsOf(processes, define, terminalOf, done)
  const looking = () => import('./commands/processes.ts')
  const changing = () => import('./commands/processes-change.ts')
  processes.usage('[list | show | events | cancel | abandon | grant | revoke | prune] [options] [store] …')

  paged(
    verb('list', 'List agent processes, the newest first, and where they stand.', [
      'processes agents.db --live',
      'processes list agents.db --kind crawl --state failed --json',
    ])
      .addOption(new Option('--state <state>', 'only these').choices([...PROCESS_STATES]))
      .option('--kind <kind>', 'only those of this kind')
      .option('--session <key or id>', 'only those that wake this session')
      .option('--live', 'only those that have not ended')
      .option('--no-live', 'only those that have ended'),
    20,
  ).action(does(async () => (await looking()).listProcesses))

  verb(
    'show',
    'Show everything about a process: where it stands, who holds it, who has a handle on it, and its last events.',
    ['processes show agents.db crawl/4711'],
    '<process>',
  )
    .option('--last <n>', 'how many events (10)', counting(1, 1000))
    .action(does(async () => (await looking()).showProcess))

  paged(
    verb(
      'events',
      'List what a process said: the newest, or all from a number on.',
      ['processes events agents.db crawl/4711', 'processes events agents.db crawl/4711 --after 0 --last 1000 --json'],
      '<process>',
    )
      .option('--after <number>', 'from here on, oldest first', counting(0))
      .option('--type <type>', 'only those of this type'),
    20,
  ).action(does(async () => (await looking()).listEvents))

  const asking = (name: 'cancel' | 'abandon', what: string) =>
    byWhom(
      verb(name, what, [`processes ${name} agents.db crawl/4711 --reason 'the order was withdrawn'`], '<process>').option(
        '--reason <why>',
        'why; kept in the journal',
      ),
    )
  asking('cancel', 'Ask for a process to be cancelled. Whoever runs it is told, and decides when to follow.').action(
    does(async () => (await changing()).cancelProcess),
  )
  asking('abandon', 'Ask for a process to be given up: it is abandoned as soon as nobody holds it.').action(
    does(async () => (await changing()).abandonProcess),
  )

  byWhom(
    verb(
      'grant',
      'Give a session a handle on a process.',
      ["processes grant agents.db crawl/4711 support/4711 --label 'the crawl'"],
      '<process> <session>',
    ).option('--label <label>', 'what the session calls it'),
  ).action(does(async () => (await changing()).grantProcess))

  byWhom(
    verb('revoke', 'Take the handle back from a session.', ['processes revoke agents.db crawl/4711 support/4711'], '<process> <session>'),
  ).action(does(async () => (await changing()).revokeProcess))

  prunes('Forget processes that ended before a time, with their events and handles.', 'ended', 'pruneProcesses')
}
