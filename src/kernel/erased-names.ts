// Names that rows hold: found as they were chosen, or, once that was erased, by a digest that says no more than that the name is taken. What was done
// under a name must not be done again because somebody asked for what was said about it to be gone.

import { hex, utf8 } from '../model/bytes.ts'
import type { Id } from '../model/ids.ts'
import { decodeBody } from '../model/rows.ts'
import { nameId } from '../model/tables.ts'
import type { Engine, Scope } from './scope.ts'

/** In place of a name that was erased. */
export const erasedName = ({ environment }: Pick<Engine, 'environment'>, name: string): string =>
  name.startsWith(HELD) ? name : HELD + hex(environment.digest.sha256(utf8(`inkfast/name/${name}`)))

const HELD = 'held:'

/**
 * Whoever has it, also where it was erased since. `first`: only as it was chosen, for those who go on to take it; where it was erased they are
 * refused, as where somebody else was quicker, and look again.
 */
export async function nameHolder<Name extends string>(
  { engine, tenant }: Scope,
  kind: string,
  key: string,
  first = false,
): Promise<Id<Name> | undefined> {
  const { rows } = engine.backend
  const name = nameId(kind, key)
  const found = (await rows.get(tenant, 'names', name)) ?? (first ? undefined : await rows.get(tenant, 'names', erasedName(engine, name)))
  return found && (decodeBody(found.body).target as Id<Name>)
}
