// Defines `inkfast tenants`.

import type { Command } from 'commander'
import { type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineTenants(tenants: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, byWhom, does } = verbsOf(tenants, define, terminalOf, done)
  const acting = () => import('./commands/tenants.ts')
  tenants.usage('[list | suspend | resume | delete] [options] [store] …')

  verb('list', 'List tenants with their state and number of events.', ['tenants agents.db', 'tenants list agents.db --json']).action(
    does(async () => (await acting()).listTenants),
  )

  const closing = (name: 'suspend' | 'resume' | 'delete', what: string, reason: string) =>
    byWhom(
      verb(name, what, [`tenants ${name} agents.db acme --reason '${reason}'`], '<tenant>').option(
        '--reason <why>',
        "keep this reason in the tenant's journal (required)",
      ),
    ).action(does(async () => (await acting())[`${name}Tenant`]))
  closing('suspend', 'Suspend a tenant: every read and write for it is refused until it is resumed.', 'invoice 81 is not paid')
  closing('resume', 'Resume a suspended tenant.', 'invoice 81 was paid')
  closing('delete', 'Delete a tenant. This is final; its journal is kept.', 'contract ended')
}
