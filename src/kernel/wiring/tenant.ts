// Closes a tenant and resumes it: an event in its own journal, and a state on its head that every node sees with its next call.

import { refuse } from '../../model/errors.ts'
import { invalidOption } from '../../model/options.ts'
import { isTenantState, type TenantState, tenantStates } from '../../model/tenant.ts'
import { checkReason } from '../proof/erase.ts'
import { refusalOf } from '../writing/commit-outcome.ts'
import { TENANT_STATE_EVENTS } from '../writing/decider.ts'
import { admitPayload, draftEvent } from '../writing/draft.ts'
import { checkOpen, type Scope } from './scope.ts'

/**
 * Setting the present state again writes nothing. Two nodes that change it at once both write their event, and the later one counts. Only
 * `deleted` is final; the backend enforces that under the lock of the head.
 */
export async function setTenantState(scope: Scope, state: TenantState, reason: string): Promise<void> {
  const { engine, tenant } = scope
  checkOpen(engine)
  if (!isTenantState(state)) throw invalidOption('state', `one of ${tenantStates.join(', ')}`, state)
  const { payload } = admitPayload(scope, { reason: checkReason(reason) })
  const end = await engine.rowMutex.take([`${tenant}/state`])
  try {
    const found = (await engine.backend.journal.head(tenant)).state
    if (found === state) return
    if (found === 'deleted') throw refuse('TENANT_CLOSED', { tenant, state: found })
    const events = [draftEvent(scope, { type: TENANT_STATE_EVENTS[state] }, payload)]
    const outcome = await engine.lane.submit({ tenant, guards: [], events, changes: [{ kind: 'state', state }] })
    if (!outcome.ok) throw refusalOf(scope, outcome)
  } finally {
    end()
  }
}
