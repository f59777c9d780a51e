// Defines `inkfast threads`.

import { type Command, Option } from 'commander'
import { THREAD_STATES } from '../model/thread.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineThreads(threads: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, paged, does } = verbsOf(threads, define, terminalOf, done)
  const looking = () => import('./commands/threads.ts')
  threads.usage('[list | show] [options] [store] …')

  paged(
    ofTenant(
      verb('list', 'List threads, newest first, with the number of their messages.', [
        'threads agents.db',
        'threads list agents.db --session support/4711',
        'threads list agents.db --user ada --state archived',
      ]),
    )
      .option('--session <key or id>', 'show only threads of this session')
      .option('--user <user>', 'show only threads of this user')
      .addOption(new Option('--state <state>', 'show only threads in this state').choices([...THREAD_STATES])),
    20,
  ).action(does(async () => (await looking()).listThreads))

  ofTenant(
    verb(
      'show',
      'Show the messages of a thread, or of the default thread of a session.',
      ['threads show agents.db support/4711', 'threads show agents.db support/4711 --last 5 --json'],
      '<thread or session>',
    ),
  )
    .option('--last <n>', 'show the last n messages (default 40)', counting(1, 1000))
    .option('--before <message>', 'show only messages before this one')
    .action(does(async () => (await looking()).showThread))
}
