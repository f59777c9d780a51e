// Notes refused writes and denied requests, and writes them in the background. Noting never fails and never waits: a window of one second
// gathers them per tenant, keeps the first hundred one by one and counts the rest. A crash loses at most that second.

import { type ErrorCode, InkError, refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Refusal } from '../../model/refusal.ts'
import { nounOf } from '../../model/reserved-nouns.ts'
import type { Audit } from '../../ports/audit.ts'
import type { Commit, Outcome } from '../../ports/commit.ts'
import type { Environment } from '../../ports/environment.ts'
import type { Engine, Scope } from '../wiring/scope.ts'

/** The refusals that are noted, each with what was asked for, from the details of its error. */
const NOTED: Readonly<Partial<Record<ErrorCode, (details: Details) => readonly [noun: unknown, subject?: unknown]>>> = {
  FENCE_LOST: ({ table, id }) => [table, id],
  TENANT_CLOSED: ({ tenant }) => ['tenants', tenant],
  TENANT_WALL: ({ call }) => [call],
  SESSION_OWNED: ({ session }) => ['sessions', session],
  SESSION_ARCHIVED: ({ session }) => ['sessions', session],
  SESSION_DELETED: ({ session }) => ['sessions', session],
  APPROVAL_FORBIDDEN: ({ id }) => ['approvals', id],
  PROCESS_NOT_GRANTED: ({ session }) => ['grants', session],
  MESSAGE_FORGED: ({ message }) => ['messages', message],
  TYPE_RESERVED: ({ type }) => ['events', nounOf(String(type))],
  ERASE_REFUSED: ({ seq }) => ['events', seq],
}

type Details = Readonly<Record<string, unknown>>

const WINDOW_MS = 1000

interface Window {
  rows: Refusal[]
  noted: number
  /** Refusals beyond the first ones of this window, by code. */
  counted: Map<ErrorCode, number>
}

export interface TrailParts {
  readonly backend: { readonly audit: Audit }
  readonly environment: Environment
  readonly newId: Engine['newId']
  readonly storeTime: () => number
  readonly closing: AbortSignal
  readonly readOnly: boolean
}

export class AuditTrail {
  readonly #parts: TrailParts
  readonly #windows = new Map<TenantId, Window>()
  /** Errors that were noted: one may pass several places on its way to the caller. */
  readonly #seen = new WeakSet<InkError>()
  #written: Promise<void> = Promise.resolve()

  constructor(parts: TrailParts) {
    this.#parts = parts
  }

  /** Notes an error that a caller gets, if it is a refusal that the audit keeps. */
  note(tenant: TenantId, actor: string, error: unknown, noun?: string, subject?: string): void {
    if (!(error instanceof InkError) || this.#seen.has(error)) return
    const askedIn = NOTED[error.code]
    if (!askedIn) return
    this.#seen.add(error)
    const asked = noun === undefined ? askedIn(error.details) : [noun, subject]
    this.#add(tenant, error.code, actor, asked)
  }

  /** Notes a commit that the backend refused for its fence or for the state of its tenant. */
  refused({ tenant, events }: Commit, { refused }: Outcome & { ok: false }): void {
    const [first] = events
    const actor = first?.actor ?? ''
    if (refused === 'tenant') this.#add(tenant, 'TENANT_CLOSED', actor, ['events', first?.session ?? first?.subject])
    else if (typeof refused === 'object' && refused.kind === 'fence') this.#add(tenant, 'FENCE_LOST', actor, [refused.table, refused.id])
  }

  /** Writes what was noted so far. It resolves also if that failed. */
  flush(): Promise<void> {
    for (const [tenant, window] of this.#windows) this.#write(tenant, window)
    return this.#written
  }

  #add(tenant: TenantId, code: ErrorCode, actor: string, [noun, subject]: readonly unknown[]): void {
    const { readOnly, closing, newId, storeTime } = this.#parts
    if (readOnly || closing.aborted) return
    try {
      const window = this.#windows.get(tenant) ?? this.#open(tenant)
      if (window.noted++ >= limits.auditPerSecond) window.counted.set(code, (window.counted.get(code) ?? 0) + 1)
      else window.rows.push({ id: newId(), at: storeTime(), code, actor, noun: text(noun), subject: text(subject), count: 1 })
    } catch (error) {
      // The caller gets the refusal, whatever becomes of the note.
      this.#failed(tenant, error)
    }
  }

  #open(tenant: TenantId): Window {
    const window: Window = { rows: [], noted: 0, counted: new Map() }
    this.#windows.set(tenant, window)
    const { environment, closing } = this.#parts
    const ended = () => {
      this.#windows.delete(tenant)
      this.#write(tenant, window)
    }
    // The wait ends early when the store closes; by then everything is flushed.
    environment.timer.idly(WINDOW_MS, closing).then(ended, () => {})
    return window
  }

  #write(tenant: TenantId, window: Window): void {
    const { backend, newId, storeTime } = this.#parts
    const counted = [...window.counted].map(([code, count]) => {
      return { id: newId(), at: storeTime(), code, actor: '', noun: '', subject: '', count }
    })
    const rows = [...window.rows, ...counted]
    if (rows.length === 0) return
    window.rows = []
    window.counted = new Map()
    this.#written = this.#written
      .then(() => backend.audit.add(tenant, rows, limits.auditRows))
      .catch((error: unknown) => this.#failed(tenant, error))
  }

  #failed(tenant: TenantId, error: unknown): void {
    this.#parts.environment.logger.warn('refusals could not be recorded in the audit', { tenant, error: String(error) })
  }
}

const text = (value: unknown): string => (value === undefined ? '' : String(value))

/** Makes a refusal for the caller, and notes it. */
export function deny(scope: Scope, code: ErrorCode, details: Details): InkError {
  const error = refuse(code, details)
  scope.engine.audit.note(scope.tenant, scope.actor, error)
  return error
}
