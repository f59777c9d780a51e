// The backend on PostgreSQL: journal, rows and receipts, for any number of nodes. The database itself isolates tenants. A batch is split by
// tenant. Each part takes the fast path if this node knows enough, and the commit function otherwise.

import { InkError, refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit, Outcome } from '../../ports/commit.ts'
import { audit } from './audit.ts'
import { blobs } from './blobs.ts'
import { applyBatch, type CommitSettings } from './commit.ts'
import type { Database } from './database.ts'
import { isChoking } from './failures.ts'
import { KnownTenants } from './fast-path/state.ts'
import { commitFast } from './fast-path/statement.ts'
import { journalReads } from './journal.ts'
import { leases } from './leases.ts'
import { type Opened, type OpenOptions, openDatabase } from './open.ts'
import { splitBatch } from './pack.ts'
import { queries } from './queries.ts'
import { rowReads } from './rows.ts'
import { texts } from './texts.ts'
import { upkeep } from './upkeep.ts'
import { values } from './values.ts'
import { NodeSignals, type SignalOptions } from './wakeups.ts'
import { STORE } from './wall.ts'
import { workers } from './workers.ts'

export interface PostgresOptions extends OpenOptions, SignalOptions {
  /** The longest time that a batch waits for the lock of the tenant's head. */
  readonly lockMs?: number
}

const LOCK_MS = 10_000

export async function postgresBackend(options: PostgresOptions): Promise<Backend> {
  return backendOn(await openDatabase(options), options)
}

/** The backend over an opened and checked database, with any driver. */
export function backendOn({ db, powerful }: Opened, options: PostgresOptions): Backend {
  const durability = options.durability ?? 'full'
  const settings: CommitSettings = { durable: durability === 'full', lockMs: options.lockMs ?? LOCK_MS }
  const wakeups = new NodeSignals(db, options)
  const known = new KnownTenants()
  let closed = false
  let ahead: number | undefined

  /** Store time for an outcome without one: read once, then this node's clock plus the offset of the last answer. */
  const storeTime = async (): Promise<number> => {
    if (ahead === undefined) {
      const [rows] = await db.read(STORE, { text: 'select inkfast.now_v1()' })
      ahead = Number(rows?.[0]?.[0]) - Date.now()
    }
    return Date.now() + ahead
  }

  /** Applies the parts of a batch in order. Commits of one part touch no common row, key or session. */
  const applyTenant = (batch: readonly Commit[]): Promise<readonly Outcome[]> => inTurn(splitBatch(batch), applyApart)

  /** One statement, if this node knows the tenant's head. Undefined if it does not, or was wrong: then nothing was written. */
  const tryFastPath = async (part: readonly Commit[]): Promise<readonly Outcome[] | undefined> => {
    const start = known.headFor(part)
    if (!start) return undefined
    const checks = start.moves.size > 0 || start.free.length > 0 || start.content !== undefined
    try {
      const fast = await commitFast(db, part, start, settings)
      if (!fast) return undefined
      if (checks) known.learn(part, fast.outcomes, start.head.seq)
      else known.moved(part[0]?.tenant as TenantId, start.head, fast.head)
      return fast.outcomes
    } catch (error) {
      // A row was not as expected. The commit function finds out which guard failed.
      if (!isChoking(error) || !checks) throw error
      return undefined
    }
  }

  // An unexpected error spoils the transaction. Each commit then gets its own, and only the faulty one fails.
  const applyApart = async (part: readonly Commit[]): Promise<readonly Outcome[]> => {
    const tenant = part[0]?.tenant as TenantId
    try {
      const fast = await tryFastPath(part)
      if (fast) return fast
      const { outcomes, base } = await applyBatch(db, part, settings)
      if (outcomes[0]) ahead = outcomes[0].now - Date.now()
      known.learn(part, outcomes, base)
      return outcomes
    } catch (error) {
      known.forget(tenant)
      if (!isChoking(error)) throw error
      if (part.length === 1) return [{ ok: false, refused: 'failed', found: String(error.details.reason), now: await storeTime() }]
    }
    return inTurn(
      part.map((commit) => [commit]),
      applyApart,
    )
  }

  /** Reports an error of one tenant per commit, so that it does not fail other tenants. */
  const applyBeside = async (batch: readonly Commit[]): Promise<readonly Outcome[]> => {
    try {
      return await applyTenant(batch)
    } catch (error) {
      if (!(error instanceof InkError) || error.kind === 'unknown') throw error
      const now = await storeTime()
      return batch.map(() => ({ ok: false, refused: 'failed', found: error.message, now }))
    }
  }

  return {
    name: 'postgres',
    traits: { durable: durability === 'full', network: !db.connections.local, shared: true, wall: 'database' },
    commit: async (batch) => {
      if (closed) throw refuse('STORE_CLOSED')
      db.checkWritable()
      const first = batch[0]?.tenant
      if (first !== undefined && batch.every(({ tenant }) => tenant === first)) {
        try {
          return await applyTenant(batch)
        } finally {
          wakeups.wake([first])
        }
      }
      const tenants = new Map<TenantId, number[]>()
      for (const [i, { tenant }] of batch.entries()) {
        const places = tenants.get(tenant)
        if (places) places.push(i)
        else tenants.set(tenant, [i])
      }
      const outcomes: Outcome[] = Array.from({ length: batch.length })
      const applied = await Promise.allSettled(
        [...tenants.values()].map(async (places) => {
          const commits = places.map((i) => batch[i] as Commit)
          const own = await applyBeside(commits)
          for (const [k, place] of places.entries()) outcomes[place] = own[k] as Outcome
        }),
      )
      wakeups.wake(tenants.keys())
      const failed = applied.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
      if (failed.length === 0) return outcomes
      // Commits of other tenants may be saved, so the error must not look definite.
      throw new Error(`${failed.length} of the ${applied.length} tenants of a batch were left without an answer`, { cause: failed[0] })
    },
    journal: journalReads(db),
    rows: rowReads(db),
    queries: queries(db),
    leases: leases(db),
    blobs: blobs(db, settings),
    texts: texts(db),
    values: values(db),
    audit: audit(db),
    workers: workers(db),
    wakeups,
    upkeep: upkeep({
      db,
      // Asks the server itself: the listening connection may be open while queries get no answer.
      health: async () => {
        const login = powerful ? 'powerful' : 'restricted'
        const silent = await answers(db)
        if (silent) return { ok: false, ready: false, why: [silent], login }
        const deaf = wakeups.deaf()
        const why = deaf ? [`other nodes are noticed by looking once a second only: ${deaf}`] : []
        return { ok: why.length === 0, ready: true, why, login }
      },
    }),
    close: async () => {
      if (closed) return
      closed = true
      await wakeups.close()
      await db.close()
    },
  }
}

/** Once a part is saved, a later error must not look definite. On a resend, the saved commits are found. */
async function inTurn(
  parts: readonly (readonly Commit[])[],
  apply: (part: readonly Commit[]) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const part of parts) {
    try {
      outcomes.push(...(await apply(part)))
    } catch (error) {
      if (outcomes.length === 0) throw error
      throw new Error(`stopped after ${outcomes.length} commits of a batch`, { cause: error })
    }
  }
  return outcomes
}

const ANSWERS_WITHIN_MS = 3000

/** Returns why the database does not answer, or undefined if it does. */
async function answers(db: Database): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const late = setTimeout(() => resolve(`${db.place} gave no answer within ${ANSWERS_WITHIN_MS} ms`), ANSWERS_WITHIN_MS)
  db.read(STORE, { text: 'select 1' }).then(
    () => resolve(undefined),
    (error: unknown) => resolve(error instanceof Error ? error.message : String(error)),
  )
  try {
    return await promise
  } finally {
    clearTimeout(late)
  }
}
