// Lists sessions, newest first; with a summary, what a person needs to pick one. A page reads its own rows only, however many sessions there are.

import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, filterOf, invalidOption, quoted } from '../../../model/options.ts'
import { encodeCursor } from '../../../model/order.ts'
import { decodeBody } from '../../../model/rows.ts'
import {
  BRANCH_STATES,
  type BranchState,
  SESSION_STATES,
  type SessionRow,
  type SessionState,
  type SessionSummary,
} from '../../../model/session.ts'
import type { ColumnValue } from '../../../model/tables.ts'
import { indexTokensOf, tokensOf } from '../../../model/text/tokens.ts'
import { checkLast, checkState } from '../../reading/list-rows.ts'
import { sessionToRead } from '../../session/session-named.ts'
import { checkSessionRow } from '../../session/session-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { checkOwnerId, checkRelationKind } from './session-options.ts'

export interface ListOptions {
  readonly state?: SessionState
  readonly owner?: string
  /** Only sessions that stand alone (`root`), were forked from another (`branch`), or have been forked (`source`). */
  readonly branch?: BranchState
  /** Only sessions with a relation of this kind, such as `fork`. */
  readonly relation?: string
  /** Only sessions with a relation to the session with this key or id. */
  readonly parent?: string
  /** Only sessions with every word of this text in title, first message, preview or last intent; other forms and beginnings of words count. */
  readonly text?: string
  /** Adds what a person needs to pick a session: its first and newest message, its counts, and its last run. It reads several rows for each. */
  readonly summary?: boolean
  /** Returns at most this many sessions, newest first. The default is 50. */
  readonly last?: number
  /** Returns at most this many sessions, oldest first. */
  readonly first?: number
  /** The `cursor` of a page leads to the next page, its `previous` to the one before. */
  readonly cursor?: string
}

/** A session with its first message, its counts, its times and the state of its last run. */
export interface ListedSession extends SessionRow, SessionSummary {}

export interface SessionPage<Row extends SessionRow = SessionRow> {
  readonly items: readonly Row[]
  readonly cursor?: string
  /** Leads to the page before this one, in the same order. */
  readonly previous?: string
}

export interface ListSessions {
  (options: ListOptions & { readonly summary: true }): Promise<SessionPage<ListedSession>>
  (options?: ListOptions): Promise<SessionPage>
}

/** Lists by the index that narrows most, and filters the rest row by row. */
export async function listSessions(scope: Scope, options: ListOptions = {}): Promise<SessionPage<SessionRow | ListedSession>> {
  checkOpen(scope.engine)
  const {
    state,
    owner: wanted,
    branch,
    relation,
    parent: related,
    text,
    summary: told = false,
    cursor,
    last,
    first,
    ...unknown
  } = filterOf(options, 'sessions.list', ['summary'])
  checkKnown(unknown, 'a list of sessions')
  if (wanted !== undefined) checkOwnerId(wanted)
  if (relation !== undefined) checkRelationKind(relation)
  checkState(state, SESSION_STATES, 'session')
  if (branch !== undefined && !BRANCH_STATES.includes(branch))
    throw refuse('RANGE_INVALID', { why: `unknown branch state '${quoted(branch)}'` })
  if (text !== undefined && (typeof text !== 'string' || text.trim() === '')) throw invalidOption('text', 'a text that is not empty', text)
  if (typeof told !== 'boolean') throw invalidOption('summary', 'true or false', told)
  if (cursor !== undefined && typeof cursor !== 'string') throw invalidOption('cursor', 'the cursor of a page', cursor)
  if (scope.own !== undefined && wanted !== undefined && wanted !== scope.own) return { items: [] }
  const parent = related === undefined ? undefined : await sessionToRead(scope, related)
  const asked = { state, owner: wanted ?? scope.own, branch, relation, parent }
  const { index, fits } = INDEXES.find(({ fits: all }) => all.every((name) => asked[name] !== undefined)) ?? { index: 'byBorn', fits: [] }
  const rest = Object.entries(asked).filter(([name, value]) => value !== undefined && !fits.includes(name as Asked)) as [Asked, string][]
  const words = text === undefined ? undefined : tokensOf(text.slice(0, limits.listTextChars))
  if (words?.length === 0) return { items: [] }
  const fitting = (row: SessionRow) => rest.every(([name, value]) => filterValue(row, name) === value)
  const summaries = new Map<SessionRow, SessionSummary>()
  const said = async (row: SessionRow): Promise<boolean> => {
    const summary = await scope.engine.features.summary(scope, row)
    summaries.set(row, summary)
    return hasWords(words as readonly string[], [row.title, summary.firstMessage, summary.preview, summary.intent])
  }
  const matches = words ? async (row: SessionRow) => fitting(row) && said(row) : rest.length === 0 ? undefined : fitting
  if (last !== undefined && first !== undefined) throw invalidOption('first', 'no number together with `last`', first)
  const size = last ?? first ?? 50
  checkLast(size, 'sessions')
  const equals = fits.map((name) => asked[name] as string)
  const page = await pageOf(scope, { index, equals, size, matches, oldestFirst: first !== undefined }, cursor)
  if (!told) return { items: page.rows, ...page.cursors }
  const items = await Promise.all(
    page.rows.map(async (row) => ({ ...row, ...(summaries.get(row) ?? (await scope.engine.features.summary(scope, row))) })),
  )
  return { items, ...page.cursors }
}

/** Every word is there, in another form, or as the beginning of a word. */
function hasWords(words: readonly string[], texts: readonly (string | undefined)[]): boolean {
  const terms = texts.flatMap((text) => (text === undefined ? [] : indexTokensOf(text)))
  return words.every((word) => terms.some((term) => term.startsWith(word)))
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

interface Range {
  readonly index: string
  readonly equals: readonly ColumnValue[]
  readonly size: number
  readonly matches: ((row: SessionRow) => boolean | Promise<boolean>) | undefined
  readonly oldestFirst: boolean
}

interface Found {
  readonly rows: readonly SessionRow[]
  readonly cursors: Pick<SessionPage, 'cursor' | 'previous'>
}

/** A cursor that leads back begins with this. */
const BACK = '<'
const AT_A_TIME = 200

/** A page may have fewer rows than asked for and still have a cursor: the number of rows read is limited. */
async function pageOf(scope: Scope, { index, equals, size, matches, oldestFirst }: Range, given: string | undefined): Promise<Found> {
  const isBack = given?.startsWith(BACK) ?? false
  const backwards = oldestFirst === isBack
  const found: { readonly row: SessionRow; readonly at: string }[] = []
  let from = isBack ? given?.slice(BACK.length) : given
  let beyond: string | undefined
  for (let looked = 0; ; ) {
    const limit = matches ? Math.max(size, AT_A_TIME) : size
    const query = { index, equals, limit, backwards, ...(from !== undefined && { cursor: from }) }
    const page = await scope.engine.backend.rows.list(scope.tenant, 'sessions', query)
    let used = 0
    const rows = page.rows.map(({ id, body }) => checkSessionRow(decodeBody(body, { table: 'sessions', id })))
    const passed = matches && (await Promise.all(rows.map(matches)))
    for (const [i, { id, born }] of page.rows.entries()) {
      used++
      const row = rows[i] as SessionRow
      if (!passed || passed[i]) found.push({ row, at: encodeCursor([born, id]) })
      if (found.length === size) break
    }
    looked += used
    const more = used < page.rows.length || page.cursor !== undefined
    if (found.length === size) beyond = more ? found.at(-1)?.at : undefined
    else if (page.cursor !== undefined && looked < limits.listLooks) {
      from = page.cursor
      continue
    } else beyond = page.cursor
    break
  }
  // A caller who came from another page can go back to it.
  const near = given === undefined ? undefined : found[0]?.at
  const rows = found.map(({ row }) => row)
  if (!isBack)
    return { rows, cursors: { ...(beyond !== undefined && { cursor: beyond }), ...(near !== undefined && { previous: BACK + near }) } }
  return {
    rows: rows.reverse(),
    cursors: { ...(near !== undefined && { cursor: near }), ...(beyond !== undefined && { previous: BACK + beyond }) },
  }
}
