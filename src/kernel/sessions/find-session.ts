// Finds sessions by key or id, and lists them. Rows only: the public handle is in session.ts.

import { refuse } from '../../model/errors.ts'
import { isId, type SessionId, toId } from '../../model/ids.ts'
import { checkKnown, optionsOf } from '../../model/options.ts'
import { BRANCH_STATES, type BranchState, SESSION_STATES, type SessionRow, type SessionState } from '../../model/session.ts'
import { telling } from '../draft.ts'
import { nameHolder } from '../erased-names.ts'
import { readRow } from '../execute.ts'
import { checkState, type Page } from '../list.ts'
import { listMatching } from '../list-matching.ts'
import { maskKey } from '../names.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { checkOwnerId, checkRelationKind } from './session-options.ts'

export interface FoundSession {
  readonly row: SessionRow
  /** The seq of the last event that changed the row. */
  readonly revision: number
}

/** Finds a session by its key and never creates one. `first` skips keys that were erased: the caller goes on to take the key. */
export async function sessionByKey(scope: Scope, key: string, first = false): Promise<FoundSession | undefined> {
  checkOpen(scope.engine)
  const id = await nameHolder<'session'>(scope, 'session', maskKey(scope, key), first)
  return id && readSession(scope, id)
}

export async function sessionById(scope: Scope, id: string): Promise<FoundSession | undefined> {
  checkOpen(scope.engine)
  return readSession(
    scope,
    telling(scope, () => toId<'session'>(id)),
  )
}

/** Finds a session that a caller names by its key or its id; SESSION_UNKNOWN where there is none. */
export async function theSession(scope: Scope, named: string): Promise<SessionRow> {
  const found = (isId(named) ? await sessionById(scope, named) : undefined) ?? (await sessionByKey(scope, named))
  if (!found) throw refuse('SESSION_UNKNOWN', { session: named, tenant: scope.tenant })
  return found.row
}

export async function readSession(scope: Scope, id: SessionId): Promise<FoundSession | undefined> {
  const { body, revision } = await readRow(scope, 'sessions', id)
  if (!body) return undefined
  scope.engine.sessions.set(scope.tenant, id, { revision, state: body.state })
  return { row: body, revision }
}

export interface ListOptions {
  readonly state?: SessionState
  readonly owner?: string
  /** Only sessions that stand alone (`root`), were forked from another (`branch`), or have been forked (`source`). */
  readonly branch?: BranchState
  /** Only sessions with a relation of this kind, such as `fork`. */
  readonly relation?: string
  /** Only sessions with a relation to the session with this id. */
  readonly parent?: string
  /** Returns at most this many sessions, newest first. The default is 50. */
  readonly last?: number
  /** Returns at most this many sessions, oldest first. */
  readonly first?: number
  readonly cursor?: string
}

/** Lists by the index that narrows most, and filters the rest row by row. */
export async function listSessions(scope: Scope, options: ListOptions = {}): Promise<Page<SessionRow>> {
  checkOpen(scope.engine)
  const { state, owner, branch, relation, parent, cursor, last, first, ...unknown } = optionsOf(options, 'list')
  checkKnown(unknown, 'a list of sessions')
  if (owner !== undefined) checkOwnerId(owner)
  if (relation !== undefined) checkRelationKind(relation)
  if (parent !== undefined) telling(scope, () => toId(parent))
  checkState(state, SESSION_STATES, 'session')
  if (branch !== undefined && !BRANCH_STATES.includes(branch)) throw refuse('RANGE_INVALID', { why: `unknown branch state '${branch}'` })
  const asked = { state, owner, branch, relation, parent }
  const { index, fits } = INDEXES.find(({ fits }) => fits.every((name) => asked[name] !== undefined)) ?? { index: 'byBorn', fits: [] }
  const rest = Object.entries(asked).filter(([name, value]) => value !== undefined && !fits.includes(name as Asked)) as [Asked, string][]
  const matches = (row: SessionRow) => rest.every(([name, value]) => filterValue(row, name) === value)
  return listMatching(
    scope,
    'sessions',
    {
      index,
      equals: fits.map((name) => asked[name] as string),
      forwards: first !== undefined,
      ...(rest.length > 0 && { matches }),
    },
    { last: last ?? first ?? 50, ...(cursor !== undefined && { cursor }) },
  )
}

type Asked = 'state' | 'owner' | 'branch' | 'relation' | 'parent'

/** Ordered by how much they narrow. */
const INDEXES: readonly { readonly index: string; readonly fits: readonly Asked[] }[] = [
  { index: 'byParent', fits: ['parent'] },
  { index: 'byRelation', fits: ['relation'] },
  { index: 'byOwnerAndState', fits: ['owner', 'state'] },
  { index: 'byOwner', fits: ['owner'] },
  { index: 'byBranch', fits: ['branch'] },
  { index: 'byState', fits: ['state'] },
]

const filterValue = (row: SessionRow, name: Asked): string | undefined =>
  name === 'relation' ? row.relation?.kind : name === 'parent' ? row.relation?.session : row[name]
