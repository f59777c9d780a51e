// Reads the audit, newest first, page by page.

import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { Refusal } from '../../../model/refusal.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'

export interface AuditListOptions {
  /** The number of refusals, newest first. The default is 50. */
  readonly last?: number
  readonly signal?: AbortSignal
}

const LAST = 50
const ROWS_AT_A_TIME = 500

export async function* listRefusals(scope: Scope, options?: AuditListOptions): AsyncGenerator<Refusal, void, undefined> {
  checkOpen(scope.engine)
  const { last = LAST, signal, ...unknown } = optionsOf(options, 'list')
  checkKnown(unknown, 'the audit')
  if (!Number.isInteger(last) || last < 1 || last > limits.auditRows)
    throw invalidOption('last', `an integer from 1 to ${limits.auditRows}`, last)
  // A caller that was just refused on this node finds it here.
  await scope.engine.audit.flush()
  let before: string | undefined
  for (let left = last; left > 0; ) {
    stopIfAsked(scope, signal)
    const limit = Math.min(left, ROWS_AT_A_TIME)
    const page = await scope.engine.backend.audit.list(scope.tenant, { limit, ...(before !== undefined && { before }) })
    for (const refusal of page) {
      yield refusal
      stopIfAsked(scope, signal)
    }
    before = page.at(-1)?.id
    if (page.length < limit) return
    left -= page.length
  }
}
