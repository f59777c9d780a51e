// The words of `inkfast approvals`.

import { type Command, Option } from 'commander'
import { APPROVAL_STATES, PERMIT_STATES, RISKS } from '../model/approval.ts'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

const ID = '01K1Y2Z3A4B5C6D7E8F9G0H1J2'

export function defineApprovals(approvals: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, byWhom, paged, does } = verbsOf(approvals, define, terminalOf, done)
  const looking = () => import('./commands/approvals.ts')
  const changing = () => import('./commands/approvals-change.ts')
  const exporting = () => import('./commands/approvals-export.ts')
  const states = () => new Option('--state <state>', 'only these').choices([...APPROVAL_STATES])
  approvals.usage('[list | show | approve | deny | permits | revoke | export | verify] [options] [store] …')

  const list = verb('list', 'List approvals, newest first.', [
    'approvals agents.db --state pending',
    'approvals list agents.db --type tool --risk critical',
    'approvals list agents.db --session support/4711 --json',
  ])
    .addOption(states())
    .option('--type <type>', 'only subjects of this type')
    .addOption(new Option('--risk <risk>', 'only of this risk').choices([...RISKS]))
    .option('--run <id>', 'only those of this run')
    .option('--session <key or id>', 'only those of this session')
  paged(list, 20).action(does(async () => (await looking()).listApprovals))

  verb(
    'show',
    'Show everything about an approval, and who was told, who looked and who decided.',
    [`approvals show agents.db ${ID}`],
    '<approval>',
  ).action(does(async () => (await looking()).showApproval))

  const deciding = (name: 'approve' | 'deny', what: string, examples: readonly string[]) =>
    byWhom(
      verb(name, what, examples, '<approval>')
        .option('--by <id>', 'who decides; --actor when left out')
        .option('--note <text>', 'why; kept in the journal')
        .option(
          '--scope <scope>',
          "once (when left out), session, or how long: '1h'; what is asked again with the same digest is then decided alike",
        )
        .option('--digest <digest>', 'what was looked at: where something else was asked, nothing is decided')
        .option('--value <json>', 'what a question is answered with'),
    ).action(does(async () => (await changing())[name]))
  deciding('approve', 'Say yes. The first answer counts.', [
    `approvals approve agents.db ${ID} --by user/grace --note 'within policy'`,
    `approvals approve agents.db ${ID} --by user/grace --scope 1h`,
  ])
  deciding('deny', 'Say no. The first answer counts.', [`approvals deny agents.db ${ID} --by user/grace --note 'not on a friday'`])

  const permits = verb('permits', 'List answers that were given for more than once, newest first.', [
    'approvals permits agents.db',
    'approvals permits agents.db --session support/4711',
  ])
    .addOption(new Option('--state <state>', 'only these').choices([...PERMIT_STATES]))
    .option('--session <key or id>', 'only those of this session')
  paged(permits, 20).action(does(async () => (await looking()).listPermits))

  byWhom(
    verb(
      'revoke',
      'Revoke a permit: people are asked again.',
      [`approvals revoke agents.db ${ID} --reason 'the release is out'`],
      '<permit>',
    )
      .option('--by <id>', 'who revokes it; --actor when left out')
      .option('--reason <why>', 'why; kept in the journal'),
  ).action(does(async () => (await changing()).revoke))

  verb('export', 'Write approvals as hash-chained NDJSON, oldest first; --json or not, it is the same.', [
    'approvals export agents.db > approvals.ndjson',
    'approvals export agents.db --state approved --after 4711 > approvals.ndjson',
  ])
    .addOption(states())
    .option('--after <seq>', 'only what was asked beyond this event', counting(0))
    .action(does(async () => (await exporting()).exportApprovals))

  define('verify', 'Check an export: that no line of it was changed, dropped, added or moved. Needs no store.', [
    'approvals verify approvals.ndjson',
    'approvals verify approvals.ndjson --chain 9e7c52a9…',
  ])
    .usage('[options] <file>')
    .argument('[words...]', 'the file; - reads what is piped in')
    .option('--chain <chain>', 'its final chain, as it was kept elsewhere: it shows an export that was written anew')
    .action(does(async () => (await exporting()).verifyExport))
}
