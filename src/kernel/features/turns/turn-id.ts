// The id of a turn follows from its session and its name, so that a retry finds the receipt.

import type { Id, SessionId } from '../../../model/ids.ts'
import { derivedId } from '../../naming/derived-id.ts'
import type { Scope } from '../../wiring/scope.ts'

export const turnId = (scope: Scope, session: SessionId, turn: string): Id<'turn'> =>
  derivedId<'turn'>(scope, `turn/${scope.tenant}/${session}/${turn}`)
