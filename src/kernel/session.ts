// A session in hand: what it was when last seen, and what can be done with it.

import { refuse } from '../model/errors.ts'
import type { Receipt } from '../model/event.ts'
import { checkActor } from '../model/event.ts'
import { type SessionId, toId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { checkKey, checkKnown, optionsOf } from '../model/options.ts'
import { decodeBody } from '../model/rows.ts'
import type { BranchState, SessionRelation, SessionRow, SessionState } from '../model/session.ts'
import type { Guard } from '../ports/commit.ts'
import { type AppendOptions, append } from './append.ts'
import { deleteSession } from './delete-session.ts'
import { telling } from './draft.ts'
import { checkReason, type EraseReport } from './erase.ts'
import { nameHolder } from './erased-names.ts'
import { execute } from './execute.ts'
import { type InputOptions, type OfferedInput, offerInput } from './inputs/offer-input.ts'
import { type SessionInbox, sessionInbox } from './inputs/session-inbox.ts'
import { type SessionInputs, sessionInputs } from './inputs/session-inputs.ts'
import { checkShared } from './lineage.ts'
import { checkLast } from './list.ts'
import { type ForkOptions, forkSession } from './runs/fork.ts'
import type { Run } from './runs/run.ts'
import { openRun, type RunOptions } from './runs/take-up.ts'
import { checkOpen, type Scope } from './scope.ts'
import { session as decider, type SessionCommand } from './session-decider.ts'
import { checkMetadata, checkTitle, type SessionOptions, takeSessionOptions } from './session-options.ts'

export interface ListOptions {
  readonly state?: SessionState
  readonly owner?: string
  /** The newest so many, newest first. The default is 50. */
  readonly last?: number
  /** The oldest so many, oldest first. */
  readonly first?: number
  readonly cursor?: string
}

/** A session in hand. What it says of itself is what it was when last seen from here. */
export interface Session {
  readonly id: SessionId
  readonly key: string | undefined
  readonly title: string | undefined
  readonly owner: string | undefined
  readonly state: SessionState
  readonly branch: BranchState
  readonly relation: SessionRelation | undefined
  readonly metadata: SessionRow['metadata']
  append(type: string, data: unknown, options?: AppendOptions): Promise<Receipt>
  rename(title: string): Promise<void>
  /** Replaces the metadata. */
  describe(metadata: NonNullable<SessionRow['metadata']>): Promise<void>
  /** Puts it away: it stays readable and takes no new events. */
  archive(): Promise<void>
  reopen(): Promise<void>
  /** For good: payloads are erased, the key is free again, the chain stays intact. Asking again finishes what a crash left. */
  delete(options: { readonly reason: string }): Promise<EraseReport>
  /** Starts a run, or picks it up where it stopped; a finished one opens finished. */
  run(name: string, options?: RunOptions): Promise<Run>
  /** Another session that shares what happened here up to this seq. Nothing is copied. */
  fork(options: ForkOptions): Promise<Session>
  /** Says something to the turn that is underway, or to the next. */
  input(content: unknown, options?: InputOptions): Promise<OfferedInput>
  readonly inputs: SessionInputs
  /** Work for its turns that no person typed. */
  readonly inbox: SessionInbox
  toJSON(): SessionRow
}

class SessionHandle implements Session {
  readonly #scope: Scope
  #row: SessionRow

  constructor(scope: Scope, row: SessionRow) {
    this.#scope = scope
    this.#row = row
  }

  get id(): SessionId {
    return this.#row.id
  }
  get key(): string | undefined {
    return this.#row.key
  }
  get title(): string | undefined {
    return this.#row.title
  }
  get owner(): string | undefined {
    return this.#row.owner
  }
  get state(): SessionState {
    return this.#row.state
  }
  get branch(): BranchState {
    return this.#row.branch
  }
  get relation(): SessionRelation | undefined {
    return this.#row.relation
  }
  get metadata(): SessionRow['metadata'] {
    return this.#row.metadata
  }

  append(type: string, data: unknown, options?: AppendOptions): Promise<Receipt> {
    return append(this.#scope, this.id, type, data, options)
  }

  async rename(title: string): Promise<void> {
    await this.#do({ verb: 'rename', id: this.id, title: checkTitle(title) })
  }

  async describe(metadata: NonNullable<SessionRow['metadata']>): Promise<void> {
    await this.#do({ verb: 'describe', id: this.id, metadata: checkMetadata(metadata) })
  }

  archive(): Promise<void> {
    return this.#do({ verb: 'archive', id: this.id })
  }

  reopen(): Promise<void> {
    return this.#do({ verb: 'reopen', id: this.id })
  }

  async delete(options: { readonly reason: string }): Promise<EraseReport> {
    const { reason: why, ...unknown } = optionsOf(options, 'delete')
    checkKnown(unknown, 'delete')
    const report = await deleteSession(this.#scope, this.id, checkReason(why))
    const row = await readSession(this.#scope, this.id)
    if (row) this.#row = row
    return report
  }

  run(name: string, options?: RunOptions): Promise<Run> {
    return openRun(this.#scope, this.#row, name, options)
  }

  fork(options: ForkOptions): Promise<Session> {
    return forkSession(this.#scope, this.id, options)
  }

  input(content: unknown, options?: InputOptions): Promise<OfferedInput> {
    return offerInput(this.#scope, this.id, content, options)
  }

  get inputs(): SessionInputs {
    return sessionInputs(this.#scope, this.id)
  }

  get inbox(): SessionInbox {
    return sessionInbox(this.#scope, this.id)
  }

  toJSON(): SessionRow {
    return this.#row
  }

  async #do(command: SessionCommand): Promise<void> {
    const { row, revision } = await execute(this.#scope, decider, this.id, command, { session: this.id })
    if (!row) throw refuse('SESSION_UNKNOWN', { session: this.id, tenant: this.#scope.tenant })
    this.#row = row
    this.#scope.engine.sessions.set(this.#scope.tenant, this.id, { revision, state: row.state })
  }
}

/** By key: opened or created. Options matter only when it is created. */
export async function openSession(
  scope: Scope,
  key: string,
  options: SessionOptions = {},
  guards: readonly Guard[] = [],
): Promise<Session> {
  checkOpen(scope.engine)
  const named = maskKey(scope, key)
  const set = takeSessionOptions(scope, options)
  for (let attempt = 1; ; attempt++) {
    const found = await findSession(scope, key, attempt === 1)
    if (found) return found
    if (set.relation?.at !== undefined) await checkShared(scope, set.relation.at)
    const id = scope.engine.newId<'session'>()
    try {
      // Someone may take the key between the look and the write: one try, then look again.
      const open = { verb: 'open', set: { key: named, ...set } } as const
      const { row, revision } = await execute(scope, decider, id, open, { session: id, guards })
      // With a clock and chance that were seen before, the id may be there already: it is another session's.
      if (!row || row.key !== named) continue
      scope.engine.sessions.set(scope.tenant, id, { revision, state: row.state })
      return new SessionHandle(scope, row)
    } catch (error) {
      if (attempt === limits.conflictRetries || !(await findSession(scope, key))) throw error
    }
  }
}

/** Never creates. */
export async function findSession(scope: Scope, key: string, first = false): Promise<Session | undefined> {
  checkOpen(scope.engine)
  const id = await nameHolder<'session'>(scope, 'session', maskKey(scope, key), first)
  const row = id && (await readSession(scope, id))
  return row && new SessionHandle(scope, row)
}

export async function sessionById(scope: Scope, id: string): Promise<Session | undefined> {
  checkOpen(scope.engine)
  const row = await readSession(
    scope,
    telling(scope, () => toId<'session'>(id)),
  )
  return row && new SessionHandle(scope, row)
}

export async function listSessions(
  scope: Scope,
  options: ListOptions = {},
): Promise<{ readonly items: readonly SessionRow[]; readonly cursor?: string }> {
  checkOpen(scope.engine)
  const { state, owner, cursor, last, first, ...unknown } = optionsOf(options, 'list')
  checkKnown(unknown, 'a list of sessions')
  const limit = last ?? first ?? 50
  if (owner !== undefined) checkActor(owner)
  checkLast(limit, 'sessions')
  if (state !== undefined && !['open', 'archived', 'deleted'].includes(state))
    throw refuse('RANGE_INVALID', { why: `unknown session state '${state}'` })
  const [index, equals] =
    owner === undefined
      ? state === undefined
        ? ['byBorn', []]
        : ['byState', [state]]
      : state === undefined
        ? ['byOwner', [owner]]
        : ['byOwnerAndState', [owner, state]]
  const page = await scope.engine.backend.rows.list(scope.tenant, 'sessions', {
    index,
    equals,
    limit,
    backwards: first === undefined,
    ...(cursor !== undefined && { cursor }),
  })
  return { items: page.rows.map((row) => decodeBody(row.body)), ...(page.cursor !== undefined && { cursor: page.cursor }) }
}

async function readSession(scope: Scope, id: SessionId): Promise<SessionRow | undefined> {
  const row = await scope.engine.backend.rows.get(scope.tenant, 'sessions', id)
  if (!row) return undefined
  const body = decodeBody(row.body)
  scope.engine.sessions.set(scope.tenant, id, { revision: row.revision, state: body.state })
  return body
}

// A key with a secret in it is looked up as it is stored: masked.
export function maskKey(scope: Scope, key: string): string {
  checkKey(key)
  return scope.engine.redactor?.text(key) ?? key
}
