// Defines `inkfast sessions`.

import { type Command, Option } from 'commander'
import { BRANCH_STATES, SESSION_STATES } from '../model/session.ts'
import { type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineSessions(sessions: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, paged, does } = verbsOf(sessions, define, terminalOf, done)
  const looking = () => import('./commands/sessions.ts')
  sessions.usage('[list | show] [options] [store] …')

  paged(
    ofTenant(
      verb('list', 'List sessions, newest first.', [
        'sessions agents.db',
        'sessions list agents.db --state open --owner user_01H',
        'sessions list agents.db --parent support/4711',
      ]),
    )
      .addOption(new Option('--state <state>', 'show only sessions in this state').choices([...SESSION_STATES]))
      .option('--owner <owner>', 'show only sessions of this owner')
      .addOption(new Option('--branch <state>', 'show only sessions in this branch state').choices([...BRANCH_STATES]))
      .option('--relation <kind>', 'show only sessions with a relation of this kind, such as fork')
      .option('--parent <key or id>', 'show only sessions with a relation to this session')
      .option('--text <words>', 'show only sessions with these words in title, messages or intent'),
    20,
  ).action(does(async () => (await looking()).listSessions))

  ofTenant(verb('show', 'Show a session and count its events by type.', ['sessions show agents.db support/4711'], '<key or id>')).action(
    does(async () => (await looking()).showSession),
  )
}
