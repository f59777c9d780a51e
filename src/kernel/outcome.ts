// From a refused outcome to the error a caller understands.

import { type InkError, refuse } from '../model/errors.ts'
import type { Outcome } from '../ports/commit.ts'
import type { Scope } from './scope.ts'

export function refusalOf(scope: Scope, outcome: Outcome & { ok: false }): InkError {
  const { refused, found } = outcome
  if (refused === 'key') return refuse('KEY_REUSED', { ...found })
  if (refused === 'tenant') return refuse('TENANT_CLOSED', { tenant: scope.tenant, state: found })
  if (refused === 'failed') return refuse('BACKEND_FAILED', { reason: found })
  switch (refused.kind) {
    case 'quiet':
      return refuse('HEAD_MOVED', { session: refused.session, after: refused.after, found })
    case 'fence':
      return refuse('FENCE_LOST', { table: refused.table, id: refused.id, fence: refused.fence, found })
    case 'row':
      return refuse('CONFLICT', { table: refused.table, id: refused.id, tries: 1 })
  }
}
