// Names that rows hold. A name is found as it was chosen, or, once it was erased, by a digest that only shows that the name is taken. An erasure must
// not let work be done again under the same name.

import { hex, utf8 } from '../../model/bytes.ts'
import type { Id } from '../../model/ids.ts'
import { decodeBody } from '../../model/rows.ts'
import { nameId } from '../../model/tables.ts'
import type { Engine, Scope } from '../wiring/scope.ts'

/** The name that takes the place of an erased one. */
export const erasedName = ({ environment }: Pick<Engine, 'environment'>, name: string): string =>
  name.startsWith(HELD) ? name : HELD + hex(environment.digest.sha256(utf8(`inkfast/name/${name}`)))

const HELD = 'held:'

/**
 * Finds the row that holds a name, also one that was erased since. `first` looks for the plain name only, for callers that take the name next.
 * If it was erased, their commit is refused as after a lost race, and they look again.
 */
export async function nameHolder<Name extends string>(
  { engine, tenant, reads }: Scope,
  kind: string,
  key: string,
  first = false,
): Promise<Id<Name> | undefined> {
  const { rows } = engine.backend
  const name = nameId(kind, key)
  // Under either name it is a conflict with what was looked up.
  for (const id of [name, erasedName(engine, name)]) reads?.set(`names/${id}`, undefined)
  const found = (await rows.get(tenant, 'names', name)) ?? (first ? undefined : await rows.get(tenant, 'names', erasedName(engine, name)))
  return found && (decodeBody(found.body, found).target as Id<Name>)
}
