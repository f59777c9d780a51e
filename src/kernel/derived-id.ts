// Ids that follow from something else: whoever makes one of the same makes the same one.

import { utf8 } from '../model/bytes.ts'
import { type Id, readId } from '../model/ids.ts'
import type { Scope } from './scope.ts'

/** `of` says what it follows from, beginning with its kind. */
export const derivedId = <Name extends string>({ engine }: Pick<Scope, 'engine'>, of: string): Id<Name> =>
  readId<Name>(engine.environment.digest.sha256(utf8(`inkfast/${of}`)))
