// A fork begins with the state that its source had at the fork point. Content is shared by reference; later changes are separate.

import type { Id, SessionId } from '../../../model/ids.ts'
import type { StateRow } from '../../../model/state.ts'
import { parseValueRef } from '../../../model/value.ts'
import { textGuards } from '../../content/blobs.ts'
import { referenceGuards } from '../../content/references.ts'
import type { Fork } from '../../feature.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { forkedRows } from '../../reading/rows-at.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part, plan } from '../../writing/execute.ts'
import { state } from './state-decider.ts'

/** The commit of a fork has room for so many entries, beside the parts of other features. */
const AT_ONCE = 2000
const PAGE = 500

/**
 * Copies the entries in the commit that creates the fork. Beyond `AT_ONCE`, the first ones are written before: they belong to a session that
 * nobody can open until that commit. A crash in between leaves them unused.
 */
export async function forkState(scope: Scope, fork: Fork): Promise<readonly Part[]> {
  const rows = (await forkedRows(scope, state, fork)).map(({ row }) => row)
  const parts = await Promise.all((await withoutCollected(scope, rows)).map((row) => copy(scope, row, fork.to)))
  while (parts.length > AT_ONCE) await plan(scope, parts.splice(0, AT_ONCE))
  return parts
}

type LiveRow = StateRow & Required<Pick<StateRow, 'content'>>

async function copy(scope: Scope, { key, content, expires }: LiveRow, session: SessionId): Promise<Part<StateRow>> {
  const refs = 'ref' in content ? [content.ref] : 'blob' in content ? [`blob:${content.blob.digest}`] : []
  const guards = 'text' in content ? await textGuards(scope, content.text) : referenceGuards(refs)
  const about = { session, whole: true, seen: NOT_THERE, guards, copied: true }
  return part(state, stateId(scope, session, key), { verb: 'set', session, key, content, expires }, about)
}

/** Leaves out erased entries, and those whose value was replaced since and is gone: a garbage collection keeps only what a row refers to. */
async function withoutCollected(scope: Scope, rows: readonly StateRow[]): Promise<readonly LiveRow[]> {
  const live = rows.filter((row): row is LiveRow => row.content !== undefined)
  const refs = live.flatMap(({ content }) => ('ref' in content ? [content.ref] : []))
  const gone = new Set<string>()
  for (let at = 0; at < refs.length; at += PAGE) {
    const page = refs.slice(at, at + PAGE)
    const nodes = await scope.engine.backend.values.get(scope.tenant, page.map(parseValueRef))
    for (const [i, ref] of page.entries()) if (!nodes[i]) gone.add(ref)
  }
  return live.filter(({ content }) => !('ref' in content && gone.has(content.ref)))
}

/** The id of an entry follows from its key, so that every node finds it without an index. */
export const stateId = (scope: Scope, session: SessionId | undefined, key: string): Id<'state'> =>
  derivedId(scope, `state/${scope.tenant}/${session ?? ''}/${key}`)
