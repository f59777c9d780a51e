// The audit: refused writes and denied requests of a tenant, beside its journal.

import type { Refusal } from '../../../model/refusal.ts'
import type { Feature } from '../../feature.ts'
import { type AuditListOptions, listRefusals } from './list-refusals.ts'

export interface AuditStore {
  readonly audit: {
    /** Reads refused writes and denied requests, newest first. It also answers for a closed tenant. */
    list(options?: AuditListOptions): AsyncGenerator<Refusal, void, undefined>
  }
}

export const audit: Feature<AuditStore> = {
  name: 'audit',
  refs: 'it has no rows',
  onForked: 'refusals belong to the tenant',
  onClose: (engine) => engine.audit.flush(),
  store: (scope) => ({ audit: { list: (options) => listRefusals(scope, options) } }),
}
