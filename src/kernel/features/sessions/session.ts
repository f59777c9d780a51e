// The public session handle: the session as last seen, and its methods. Features add their own members.

import { refuse } from '../../../model/errors.ts'
import type { Receipt } from '../../../model/event.ts'
import type { SessionId } from '../../../model/ids.ts'
import { checkKnown, checkSeq, optionsOf } from '../../../model/options.ts'
import type { BranchState, SessionRelation, SessionRow, SessionState } from '../../../model/session.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { SessionMembers } from '../../features.ts'
import { checkReason } from '../../proof/erase.ts'
import type { Scope } from '../../wiring/scope.ts'
import { withMembers } from '../../wiring/with-members.ts'
import { type AppendOptions, append } from '../../writing/append.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { execute, readRow } from '../../writing/execute.ts'
import { type DeleteReport, deleteSession } from './delete-session.ts'
import { type FoundSession, readSession } from './find-session.ts'
import { type ForkOptions, forkSession } from './fork-session.ts'
import type { OpenedSession } from './open-session.ts'
import { session as decider, type SessionCommand } from './session-decider.ts'
import { checkMetadata, checkTitle } from './session-options.ts'

export interface DescribeOptions {
  /** The `revision` of the session that the caller has seen. */
  readonly expect?: number
}

/** A session handle. Its properties are those of the row as this handle last saw it. */
export interface Session extends SessionMembers {
  readonly id: SessionId
  readonly key: string | undefined
  readonly title: string | undefined
  readonly owner: string | undefined
  readonly status: SessionState
  readonly branch: BranchState
  readonly relation: SessionRelation | undefined
  readonly metadata: SessionRow['metadata']
  /** Whether the call that returned this handle created the session. */
  readonly created: boolean
  /** The seq of the last event that changed the session itself, as this handle last saw it. Appended events do not change it. */
  readonly revision: number
  append(type: string, data: unknown, options?: AppendOptions): Promise<Receipt>
  rename(title: string): Promise<void>
  /**
   * Replaces the metadata. With `expect`, a revision of the session, the call is refused with SESSION_CHANGED if the session has changed
   * since that revision.
   */
  describe(metadata: object, options?: DescribeOptions): Promise<void>
  /** Archives the session: it stays readable and takes no new events. */
  archive(): Promise<void>
  reopen(): Promise<void>
  /** Deletes the session for good: payloads are erased, the key is free again, the chain stays intact. Calling it again finishes what a crash left. */
  delete(options: { readonly reason: string }): Promise<DeleteReport>
  /** Creates another session that shares the events up to a seq. Nothing is copied. */
  fork(options: ForkOptions): Promise<Session>
  toJSON(): SessionRow
}

export class SessionHandle extends withMembers<SessionMembers>() implements Session {
  readonly #scope: Scope
  readonly created: boolean
  #row: SessionRow
  #revision: number

  constructor(scope: Scope, { row, revision, created }: OpenedSession) {
    super()
    this.#scope = scope
    this.#row = row
    this.#revision = revision
    this.created = created
    scope.engine.features.addSessionMembers(this, {
      scope,
      id: row.id,
      row: () => this.#row,
      saw: (seen, at) => this.#saw({ row: seen, revision: at }),
    })
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
  get status(): SessionState {
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

  get revision(): number {
    return this.#revision
  }

  append(type: string, data: unknown, options?: AppendOptions): Promise<Receipt> {
    return append(this.#scope, this.id, type, data, options)
  }

  async rename(title: string): Promise<void> {
    await this.#do({ verb: 'rename', id: this.id, title: checkTitle(title) })
  }

  async describe(metadata: object, options?: DescribeOptions): Promise<void> {
    const { expect, ...unknown } = optionsOf(options, 'describe')
    checkKnown(unknown, 'describe')
    const command = { verb: 'describe', id: this.id, metadata: checkMetadata(metadata) } as const
    if (expect === undefined) return this.#do(command)
    const guard: Guard = { kind: 'row', table: 'sessions', id: this.id, revision: checkSeq(expect) }
    try {
      await this.#do(command, [guard])
    } catch (error) {
      if (!isConflict(error, 'sessions')) throw error
      const { revision: found } = await readRow(this.#scope, 'sessions', this.id)
      throw refuse('SESSION_CHANGED', { session: this.id, expect, found })
    }
  }

  archive(): Promise<void> {
    return this.#do({ verb: 'archive', id: this.id })
  }

  reopen(): Promise<void> {
    return this.#do({ verb: 'reopen', id: this.id })
  }

  async delete(options: { readonly reason: string }): Promise<DeleteReport> {
    const { reason: why, ...unknown } = optionsOf(options, 'delete')
    checkKnown(unknown, 'delete')
    const report = await deleteSession(this.#scope, this.id, checkReason(why))
    const found = await readSession(this.#scope, this.id)
    if (found) this.#saw(found)
    return report
  }

  async fork(options: ForkOptions): Promise<Session> {
    const fork = new SessionHandle(this.#scope, await forkSession(this.#scope, this.id, options))
    // The fork has changed this session too: it is the source of a branch now.
    const found = await readSession(this.#scope, this.id)
    if (found) this.#saw(found)
    return fork
  }

  toJSON(): SessionRow {
    return this.#row
  }

  #saw({ row, revision }: FoundSession): void {
    this.#row = row
    this.#revision = revision
  }

  async #do(command: SessionCommand, guards: readonly Guard[] = []): Promise<void> {
    const { row, revision } = await execute(this.#scope, decider, this.id, command, { session: this.id, guards })
    if (!row) throw refuse('SESSION_UNKNOWN', { session: this.id, tenant: this.#scope.tenant })
    this.#saw({ row, revision })
    this.#scope.engine.sessions.set(this.#scope.tenant, this.id, { revision, state: row.state })
  }
}
