// `store.pin` and `store.unpin`.

import type { BlobRef } from '../../../model/blob.ts'
import { referenceGuards, toReference } from '../../content/references.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { execute, part, plan } from '../../writing/execute.ts'
import { pin } from './pin-decider.ts'

export async function pinContent(scope: Scope, given: string | BlobRef): Promise<void> {
  checkOpen(scope.engine)
  const ref = toReference(given)
  const about = { whole: true, guards: referenceGuards([ref]) }
  await plan(scope, [part(pin, derivedId(scope, `pin/${ref}`), { verb: 'pin', ref }, about)])
}

export async function unpinContent(scope: Scope, given: string | BlobRef): Promise<void> {
  checkOpen(scope.engine)
  await execute(scope, pin, derivedId(scope, `pin/${toReference(given)}`), { verb: 'unpin' })
}
