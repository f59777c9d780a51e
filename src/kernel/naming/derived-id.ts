// Ids that are derived from a text: every node derives the same id from the same text.

import { utf8 } from '../../model/bytes.ts'
import { type Id, readId } from '../../model/ids.ts'
import type { Scope } from '../wiring/scope.ts'

/** `of` is the text, beginning with its kind. */
export const derivedId = <Name extends string>({ engine }: Pick<Scope, 'engine'>, of: string): Id<Name> =>
  readId<Name>(engine.environment.digest.sha256(utf8(`inkfast/${of}`)))
