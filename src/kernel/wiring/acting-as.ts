// The scope of a view that acts as somebody, and may be limited to the sessions of that owner.

import { refuse } from '../../model/errors.ts'
import { checkActor } from '../../model/event.ts'
import { checkKnown, filterOf, invalidOption } from '../../model/options.ts'
import { deny } from '../proof/audit-trail.ts'
import type { Scope } from './scope.ts'

export interface AsOptions {
  /** Limits sessions to those whose owner is the actor. */
  readonly own?: boolean
}

export function actingAs(scope: Scope, actor: string, options: AsOptions | undefined): Scope {
  checkActor(actor)
  const { own = false, ...unknown } = filterOf(options, 'as')
  checkKnown(unknown, 'as')
  if (typeof own !== 'boolean') throw invalidOption('own', 'true or false', own)
  // A view that is limited to an owner cannot leave that owner.
  if (own && scope.own !== undefined && scope.own !== actor) throw deny(scope, 'OWNER_WALL', { owner: scope.own })
  const { redactor } = scope.engine
  // The actor is part of a header that is never erased.
  if (redactor && redactor.text(actor) !== actor) throw refuse('ACTOR_INVALID', { found: 'a secret' })
  return { ...scope, actor, ...(own && { own: actor }) }
}
