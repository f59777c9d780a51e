// The filter of approvals as options of the command.

import type { ApprovalFilter, ApprovalState, Risk, Store } from '../../index.ts'
import { instant } from '../query.ts'
import { findSession } from '../store.ts'
import { given } from '../words.ts'

export interface FilterOptions {
  readonly state?: string
  readonly type?: string
  readonly subject?: string
  readonly risk?: string
  readonly run?: string
  readonly session?: string
  readonly key?: string
  readonly digest?: string
  readonly askedBy?: string
  readonly decidedBy?: string
  readonly since?: string
  readonly until?: string
}

export async function filterOf(store: Store, options: FilterOptions): Promise<ApprovalFilter> {
  const { state, type, subject, risk, run, session, key, digest, askedBy, decidedBy, since, until } = options
  return {
    ...given({ state: state as ApprovalState | undefined, subjectType: type, subject, risk: risk as Risk | undefined }),
    ...given({ run, key, digest, askedBy, decidedBy }),
    ...(since !== undefined && { since: instant(since, Date.now()) }),
    ...(until !== undefined && { until: instant(until, Date.now()) }),
    ...(session !== undefined && { session: (await findSession(store, session)).id }),
  }
}
