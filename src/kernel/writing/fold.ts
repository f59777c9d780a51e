// Folds one fact into the changes that it makes. Live commits and the rebuild both use it, so they agree.

import { assert } from '../../model/errors.ts'
import { type Body, columnsOf, decodeBody, encodeBody } from '../../model/rows.ts'
import { nameId } from '../../model/tables.ts'
import type { Change } from '../../ports/commit.ts'
import type { AnyDecider, Happened } from './decider.ts'

export interface Folded {
  readonly body: Body | undefined
  readonly changes: readonly Change[]
  /** The names that the row takes and did not hold before. */
  readonly taken: readonly string[]
}

export function foldFact(d: AnyDecider, before: Body | undefined, event: Happened, index: number): Folded {
  const evolve = d.evolve[event.type]
  assert(evolve && event.subject, `${event.type} belongs to a decider and names its subject`)
  // The row goes through its text and back, so that the next fact sees what a reader of the row would see.
  const next = evolve(before, event)
  const text = next === undefined ? undefined : encodeBody(next)
  const body = text === undefined ? undefined : decodeBody(text)
  return changesTo(d, event.subject, before, body, text, index, d.grants?.includes(event.type) ?? false)
}

export const rowChanges = (d: AnyDecider, id: string, before: Body | undefined, body: Body | undefined, index: number): Folded =>
  changesTo(d, id, before, body, body && encodeBody(body), index, false)

/** `text` is the stored form of the body. */
function changesTo(
  d: AnyDecider,
  id: string,
  before: Body | undefined,
  body: Body | undefined,
  text: string | undefined,
  index: number,
  grants: boolean,
): Folded {
  const changes: Change[] = []
  if (body && text !== undefined)
    changes.push({
      kind: 'put',
      table: d.table,
      id,
      columns: columnsOf(d.table, body),
      body: text,
      event: index,
      ...(grants && { grants }),
    })
  else if (before) changes.push({ kind: 'remove', table: d.table, id })

  const held = namesOf(d, before)
  const wanted = namesOf(d, body)
  const taken = wanted.filter((name) => !held.includes(name))
  for (const name of held) if (!wanted.includes(name)) changes.push({ kind: 'remove', table: 'names', id: name })
  for (const name of taken) {
    const target = { target: id }
    changes.push({ kind: 'put', table: 'names', id: name, columns: columnsOf('names', target), body: encodeBody(target), event: index })
  }
  return { body, changes, taken }
}

/** The names of a row, and the digests of names that were erased. */
export function namesOf(d: AnyDecider, body: Body | undefined): readonly string[] {
  if (!body || !d.names) return []
  const names = d.names(body).map(([kind, key]: readonly [string, string]) => nameId(kind, key))
  return [...names, ...((body.held ?? []) as readonly string[])]
}
