// Grants: which sessions have a handle on which processes.

import { refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkFlag, checkKnown, filterOf, invalidOption, listOf, optionsOf } from '../../../model/options.ts'
import { type GrantRow, hasEnded, type ProcessRow, type ProcessState } from '../../../model/process.ts'
import { takeName } from '../../naming/names.ts'
import { deny } from '../../proof/audit-trail.ts'
import { listRows, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { sessionToRead, sessionToWrite } from '../../session/session-named.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { part, plan, readRow } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { lookAgain } from '../../writing/session-guard.ts'
import { takeText } from './definition.ts'
import { grant } from './grant-decider.ts'
import { grantId, readProcess, thatProcess } from './ids.ts'
import { rowGuard } from './process-lease.ts'

export interface GrantOptions {
  /** What the session has the handle for, such as `tool`. The default is the kind of the process. */
  readonly kind?: string
  readonly label?: string
}

export interface ProcessGrant extends GrantRow {
  /** The kind of the handle. */
  readonly kind: string
  /** The name of the process. */
  readonly name: string
  readonly state: ProcessState
}

export interface GrantListOptions extends PageOptions {
  /** The key or the id of a session. */
  readonly session?: string
  /** The name or id of a process. */
  readonly process?: string
  /** Only handles on processes that have not ended. */
  readonly live?: boolean
}

/** Gives a session a handle on a process, or changes the kind and the label of the handle. */
export async function giveGrant(scope: Scope, given: string, to: string, options?: GrantOptions): Promise<ProcessGrant> {
  checkOpen(scope.engine)
  const { kind: of, label: text, ...unknown } = optionsOf(options, 'grant')
  checkKnown(unknown, 'a grant')
  const kind = of === undefined ? undefined : takeName(scope, of, 'the kind of a handle')
  const label = text === undefined ? undefined : takeText(scope, 'label', text, limits.titleChars)
  const session = await sessionToWrite(scope, to)
  await lookAgain(scope, session)
  // The conflict: the process changed, and may be gone.
  return retryConflicts(scope, ['processes'], async () => {
    const row = await thatProcess(scope, given)
    const { revision } = await readRow(scope, 'processes', row.id)
    const set = { session, process: row.id, ...described({ kind, label }) }
    const give = part(grant, grantId(scope, session, row.id), { verb: 'give', set }, { session })
    const { rows } = await plan(scope, [give], { open: session, guards: [rowGuard(row.id, revision)] })
    return toGrant(rows[0].body as GrantRow, row)
  })
}

/** Takes a handle back. Returns whether there was one. */
export async function revokeGrant(scope: Scope, given: string, from: string): Promise<boolean> {
  checkOpen(scope.engine)
  const session = await sessionToRead(scope, from)
  const { id } = await thatProcess(scope, given)
  const { receipts } = await plan(scope, [part(grant, grantId(scope, session, id), { verb: 'revoke', why: 'revoked' }, { session })])
  return receipts.length > 0
}

/** Moves the handles on all these processes to another session, or none of them. */
export async function transferGrants(scope: Scope, given: readonly string[], from: string, to: string): Promise<readonly ProcessGrant[]> {
  checkOpen(scope.engine)
  const names = [...new Set(listOf(given, 'ids') ?? [])]
  if (names.length > limits.listRows) throw invalidOption('ids', `at most ${limits.listRows} ids`, names.length)
  const [source, target] = [await sessionToWrite(scope, from), await sessionToWrite(scope, to)]
  await lookAgain(scope, target)
  const found = await Promise.all(names.map((name) => thatProcess(scope, name)))
  const processes = [...new Map(found.map((row) => [row.id, row])).values()]
  return retryConflicts(scope, ['grants'], async () => {
    const held = await Promise.all(processes.map(({ id }) => readRow(scope, 'grants', grantId(scope, source, id))))
    const missing = processes.filter((_, i) => !held[i]?.body).map(({ name }) => name)
    if (missing.length > 0) throw deny(scope, 'PROCESS_NOT_GRANTED', { session: source, missing })
    const grants = held.map(({ body }) => body as GrantRow)
    if (source === target || processes.length === 0) return grants.map((row, i) => toGrant(row, processes[i] as ProcessRow))
    const taken = processes.map(({ id }, i) =>
      part(
        grant,
        grantId(scope, source, id),
        { verb: 'revoke', why: 'transferred' },
        { session: source, seen: held[i] as (typeof held)[0] },
      ),
    )
    const set = (row: GrantRow) => ({ session: target, process: row.process, ...described(row) })
    const handed = grants.map((row) =>
      part(grant, grantId(scope, target, row.process), { verb: 'give', set: set(row) }, { session: target }),
    )
    const guards = held.map(
      ({ revision }, i) => ({ kind: 'row', table: 'grants', id: (taken[i] as (typeof taken)[0]).id, revision }) as const,
    )
    const { rows } = await plan(scope, [...taken, ...handed], { open: target, guards })
    return rows.slice(taken.length).map(({ body }, i) => toGrant(body as GrantRow, processes[i] as ProcessRow))
  })
}

/** Lists the handles of a session, of a process, or the one that this session has on that process. */
export async function listGrants(scope: Scope, options: GrantListOptions): Promise<Page<ProcessGrant>> {
  checkOpen(scope.engine)
  const { session: given, process: name, live = false, ...page } = filterOf(options, 'processes.grants')
  checkFlag('live', live)
  const session = given === undefined ? undefined : await sessionToRead(scope, given)
  const row = name === undefined ? undefined : await thatProcess(scope, name)
  if (!session && !row) throw refuse('RANGE_INVALID', { why: 'pass session, process or both to list grants' })
  const found =
    session && row
      ? { items: await oneGrant(scope, session, row) }
      : session
        ? await listRows(scope, 'grants', { index: 'bySession', equals: [session] }, page)
        : await listRows(scope, 'grants', { index: 'byProcess', equals: [row?.id as string] }, page)
  const items: ProcessGrant[] = []
  for (const one of found.items) {
    const of = row ?? (await readProcess(scope, one.process))
    if (of && !(live && hasEnded(of.state))) items.push(toGrant(one, of))
  }
  return { ...found, items }
}

async function oneGrant(scope: Scope, session: SessionId, { id }: ProcessRow): Promise<readonly GrantRow[]> {
  const { body } = await readRow(scope, 'grants', grantId(scope, session, id))
  return body ? [body] : []
}

const described = ({ kind, label }: Pick<GrantRow, 'kind' | 'label'>) => ({
  ...(kind !== undefined && { kind }),
  ...(label !== undefined && { label }),
})

const toGrant = (row: GrantRow, { name, state, kind }: ProcessRow): ProcessGrant => ({ ...row, kind: row.kind ?? kind, name, state })
