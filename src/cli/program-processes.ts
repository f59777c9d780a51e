// Defines `inkfast processes`.

import { type Command, Option } from 'commander'
import { PROCESS_STATES } from '../model/process.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineProcesses(processes: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, prunes, does } = verbsOf(processes, define, terminalOf, done)
  const looking = () => import('./commands/processes.ts')
  const changing = () => import('./commands/processes-change.ts')
  processes.usage('[list | show | events | cancel | abandon | grant | revoke | prune] [options] [store] …')

  paged(
    ofTenant(
      verb('list', 'List agent processes that have not ended, newest first.', [
        'processes agents.db --all',
        'processes list agents.db --kind crawl --state failed --json',
      ]),
    )
      .addOption(new Option('--state <state>', 'show only processes in this state').choices([...PROCESS_STATES]))
      .option('--kind <kind>', 'show only processes of this kind')
      .option('--session <key or id>', 'show only processes that wake this session')
      .option('--all', 'show processes that have ended, too'),
    20,
  ).action(does(async () => (await looking()).listProcesses))

  ofTenant(
    verb('show', 'Show a process: its state, lease holder, handles and last events.', ['processes show agents.db crawl/4711'], '<process>'),
  )
    .option('--last <n>', 'show the last n events (default 10)', counting(1, 1000))
    .action(does(async () => (await looking()).showProcess))

  paged(
    ofTenant(
      verb(
        'events',
        'List the events of a process: the newest ones, or all after a number.',
        ['processes events agents.db crawl/4711', 'processes events agents.db crawl/4711 --after 0 --last 1000 --json'],
        '<process>',
      ),
    )
      .option('--after <number>', 'show events after this number, oldest first', counting(0))
      .option('--type <type>', 'show only events of this type'),
    20,
  ).action(does(async () => (await looking()).listEvents))

  const asking = (name: 'cancel' | 'abandon', what: string) =>
    byWhom(
      ofTenant(verb(name, what, [`processes ${name} agents.db crawl/4711 --reason 'the order was withdrawn'`], '<process>')).option(
        '--reason <why>',
        'keep this reason in the journal (required)',
      ),
    )
  asking('cancel', 'Request cancellation of a process. Its handler gets an abort signal and decides when to stop.').action(
    does(async () => (await changing()).cancelProcess),
  )
  asking('abandon', 'Request that a process is abandoned as soon as no worker holds it.').action(
    does(async () => (await changing()).abandonProcess),
  )

  byWhom(
    ofTenant(
      verb(
        'grant',
        'Give a session a handle on a process.',
        ["processes grant agents.db crawl/4711 support/4711 --label 'the crawl'"],
        '<process> <session>',
      ),
    )
      .option('--kind <kind>', 'kind of the handle (default: that of the process)')
      .option('--label <label>', 'name of the handle in the session'),
  ).action(does(async () => (await changing()).grantProcess))

  byWhom(
    ofTenant(
      verb(
        'revoke',
        "Revoke a session's handle on a process.",
        ['processes revoke agents.db crawl/4711 support/4711'],
        '<process> <session>',
      ),
    ),
  ).action(does(async () => (await changing()).revokeProcess))

  prunes('Remove processes that ended before a time, with their events and handles.', 'that ended', 'pruneProcesses')
}
