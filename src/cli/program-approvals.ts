// Defines `inkfast approvals`.

import { type Command, Option } from 'commander'
import { APPROVAL_STATES, PERMIT_STATES, RISKS } from '../model/approval.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

const ID = '01K1Y2Z3A4B5C6D7E8F9G0H1J2'

export function defineApprovals(approvals: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, does } = verbsOf(approvals, define, terminalOf, done)
  const looking = () => import('./commands/approvals.ts')
  const changing = () => import('./commands/approvals-change.ts')
  const exporting = () => import('./commands/approvals-export.ts')
  const filtered = (command: Command, of: string): Command =>
    command
      .addOption(new Option('--state <state>', `${of} only approvals in this state`).choices([...APPROVAL_STATES]))
      .option('--type <type>', `${of} only approvals of this subject type`)
      .option('--subject <subject>', `${of} only approvals of this subject`)
      .addOption(new Option('--risk <risk>', `${of} only approvals of this risk`).choices([...RISKS]))
      .option('--run <id>', `${of} only approvals of this run`)
      .option('--session <key or id>', `${of} only approvals of this session`)
      .option('--key <key>', `${of} only the approval with this idempotency key`)
      .option('--digest <digest>', `${of} only approvals of exactly these arguments`)
      .option('--asked-by <actor>', `${of} only approvals that this actor asked for`)
      .option('--decided-by <actor>', `${of} only approvals that this actor decided`)
      .option('--since <time>', `${of} only approvals asked since this time: 2026-01-31T09:00:00Z, or an age such as 15m`)
      .option('--until <time>', `${of} only approvals asked before this time`)
  approvals.usage('[list | show | approve | deny | permits | revoke | export | verify] [options] [store] …')

  const list = verb('list', 'List approvals, newest first.', [
    'approvals agents.db --state pending',
    'approvals list agents.db --type tool --risk critical',
    'approvals list agents.db --session support/4711 --json',
  ])
  paged(ofTenant(filtered(list, 'show')), 20).action(does(async () => (await looking()).listApprovals))

  ofTenant(
    verb(
      'show',
      'Show an approval and its history: who was notified, who looked at it and who decided.',
      [`approvals show agents.db ${ID}`],
      '<approval>',
    ),
  ).action(does(async () => (await looking()).showApproval))

  const deciding = (name: 'approve' | 'deny', what: string, examples: readonly string[]) =>
    byWhom(
      ofTenant(verb(name, what, examples, '<approval>'))
        .option('--by <id>', 'record this id as the decider (default: --actor)')
        .option('--note <text>', 'keep this note in the journal')
        .option('--scope <scope>', "apply to this request (once, the default), to the session, or for a time such as '1h'")
        .option('--digest <digest>', 'decide only if the request has this digest')
        .option('--value <json>', 'answer a question with this value'),
    ).action(does(async () => (await changing())[name]))
  deciding('approve', 'Approve a request. The first decision counts.', [
    `approvals approve agents.db ${ID} --by user/grace --note 'within policy'`,
    `approvals approve agents.db ${ID} --by user/grace --scope 1h`,
  ])
  deciding('deny', 'Deny a request. The first decision counts.', [
    `approvals deny agents.db ${ID} --by user/grace --note 'not on a friday'`,
  ])

  const permits = verb('permits', 'List permits, newest first: decisions that also apply to later requests.', [
    'approvals permits agents.db',
    'approvals permits agents.db --session support/4711',
  ])
    .addOption(new Option('--state <state>', 'show only permits in this state').choices([...PERMIT_STATES]))
    .option('--session <key or id>', 'show only permits of this session')
  paged(ofTenant(permits), 20).action(does(async () => (await looking()).listPermits))

  byWhom(
    ofTenant(
      verb(
        'revoke',
        'Revoke a permit: later requests ask a person again.',
        [`approvals revoke agents.db ${ID} --reason 'the release is out'`],
        '<permit>',
      ),
    )
      .option('--by <id>', 'record this id as the revoker (default: --actor)')
      .option('--reason <why>', 'keep this reason in the journal'),
  ).action(does(async () => (await changing()).revoke))

  const exported = ofTenant(
    verb('export', 'Write approvals to stdout as hash-chained NDJSON, oldest first. --json changes nothing.', [
      'approvals export agents.db > approvals.ndjson',
      'approvals export agents.db --state approved --after 4711 > approvals.ndjson',
    ]),
  )
  filtered(exported, 'write')
    .option('--after <seq>', 'write only approvals requested after this seq', counting(0))
    .action(does(async () => (await exporting()).exportApprovals))

  define('verify', 'Check that no line of an export was changed, removed, added or moved. Needs no store.', [
    'approvals verify approvals.ndjson',
    'approvals verify approvals.ndjson --chain 9e7c52a9…',
  ])
    .usage('[options] <file>')
    .argument('[file...]', 'the exported file, or - for stdin')
    .option('--chain <chain>', 'expect this final chain, which you kept elsewhere; reveals an export that was rewritten')
    .action(does(async () => (await exporting()).verifyExport))
}
