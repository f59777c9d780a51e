// Defines `inkfast state` and `inkfast snapshots`.

import type { Command } from 'commander'
import { counting, type Define, type Done, type TerminalOf, type Verbs, verbsOf } from './define.ts'

const ofSession = (command: Command): Command => command.option('--session <key or id>', 'use the state of this session')

export function defineState(state: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, does } = verbsOf(state, define, terminalOf, done)
  const commands = () => import('./commands/state.ts')
  state.usage('[list | get | set | delete] [options] [store] …')

  ofTenant(
    ofSession(verb('list', 'List entries in the order of their keys.', ['state agents.db', 'state list agents.db --prefix cursor/'])),
  )
    .option('--prefix <text>', 'show only keys that begin with this')
    .option('--last <n>', 'show at most n (default 50)', counting(1, 1000))
    .option('--after <key>', 'continue behind this key')
    .action(does(async () => (await commands()).listState))

  ofTenant(ofSession(verb('get', 'Print the value of an entry as JSON.', ['state get agents.db cursor/github'], '<key>'))).action(
    does(async () => (await commands()).getState),
  )

  byWhom(ofTenant(ofSession(verb('set', 'Set an entry.', [`state set agents.db cursor/github '{"page":7}' --ttl 1h`], '<key> <json>'))))
    .option('--ttl <duration>', 'the entry counts as absent after this time: 30s, 5m, 2h')
    .option('--expect <revision>', 'write only if the entry has this revision; 0 if there must be none', counting(0))
    .action(does(async () => (await commands()).setState))

  byWhom(ofTenant(ofSession(verb('delete', 'Delete an entry.', ['state delete agents.db cursor/github'], '<key>'))))
    .option('--expect <revision>', 'delete only if the entry has this revision', counting(0))
    .action(does(async () => (await commands()).deleteState))
}

export function defineSnapshots(snapshots: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, paged, does }: Verbs = verbsOf(snapshots, define, terminalOf, done)
  const commands = () => import('./commands/snapshots.ts')
  snapshots.usage('[list | show] [options] [store] …')

  paged(ofTenant(verb('list', 'List snapshots of executions, newest first.', ['snapshots agents.db'])), 20).action(
    does(async () => (await commands()).listSnapshots),
  )
  ofTenant(verb('show', 'Print the snapshot of an execution as JSON.', ['snapshots show agents.db exec-1'], '<execution>')).action(
    does(async () => (await commands()).showSnapshot),
  )
}
