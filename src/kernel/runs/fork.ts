// Forks: another session or run that shares what was recorded up to a seq, and copies nothing.

import { canonical } from '../../model/canonical.ts'
import { refuse } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, checkSeq, optionsOf } from '../../model/options.ts'
import type { RunRow } from '../../model/run.ts'
import type { SessionRelation } from '../../model/session.ts'
import type { Guard } from '../../ports/commit.ts'
import { NOT_THERE, part, plan, readRow } from '../execute.ts'
import { load } from '../json-or-blob.ts'
import { checkShared } from '../lineage.ts'
import { leaseId } from '../names.ts'
import { isConflict } from '../outcome.ts'
import type { Scope } from '../scope.ts'
import { maskKey, openSession, type Session } from '../session.ts'
import { checkKnownRun, runByName } from './find-run.ts'
import { readRun } from './result.ts'
import type { Run } from './run.ts'
import { run as decider } from './run-decider.ts'
import { handOf } from './take-up.ts'

export interface ForkOptions {
  /** The last seq that is shared. */
  readonly at: number
  /** The key of the fork; by default one of its own. */
  readonly key?: string
}

/** The same key and the same place once more is the same fork. */
export async function forkSession(scope: Scope, from: SessionId, options: ForkOptions): Promise<Session> {
  const at = await sharedUpTo(scope, options)
  const key = options.key ?? scope.engine.newId()
  const relation: SessionRelation = { kind: 'fork', session: from, at }
  for (let attempt = 1; ; attempt++) {
    // As it is now, and still is when the fork is written: what was erased of it must not come back.
    const seen = await readRow(scope, 'sessions', from)
    const row = seen.body
    if (!row) throw refuse('SESSION_UNKNOWN', { session: from, tenant: scope.tenant })
    if (row.state === 'deleted') throw refuse('SESSION_DELETED', { session: from })
    const { title, owner, metadata } = row
    const given = { ...(title !== undefined && { title }), ...(owner !== undefined && { owner }), ...(metadata && { metadata }) }
    const guard: Guard = { kind: 'row', table: 'sessions', id: from, revision: seen.revision }
    try {
      const fork = await openSession(scope, key, { branch: 'branch', relation, ...given }, [guard])
      if (canonical(fork.relation ?? null) === canonical(relation)) return fork
      throw refuse('KEY_REUSED', { session: fork.id, key })
    } catch (error) {
      if (!isConflict(error, 'sessions') || attempt === limits.conflictRetries) throw error
    }
  }
}

async function sharedUpTo(scope: Scope, options: ForkOptions): Promise<number> {
  const { at: given, key: _, ...unknown } = optionsOf(options, 'fork')
  checkKnown(unknown, 'a fork')
  const at = checkSeq(given)
  await checkShared(scope, at)
  return at
}

/** A fork goes on beside the run it came from, under a lease of its own. Nobody waits for it as they may for the other. */
export async function forkRun(scope: Scope, { id: source }: Pick<RunRow, 'id'>, options: ForkOptions): Promise<Run> {
  const { engine, tenant } = scope
  const at = await sharedUpTo(scope, options)
  // As it is now: what was erased of it must not come back.
  const from = await readRun(scope, source)
  if (!from) throw refuse('RUN_UNKNOWN', { run: source, tenant })
  const id = engine.newId<'run'>()
  const key = options.key === undefined ? id : maskKey(scope, options.key)
  const { session, name, input, origin } = from
  // As for opening: what cannot be read is found out before a lease is taken for it.
  checkKnownRun(from)
  await load(scope, input)
  const about = { session, run: id }
  const set = { session, name, key, parallel: true, origin, fork: { run: from.id, at }, ...(input && { input }) }
  const lease = leaseId(scope, session, id, true)
  const standing = await engine.keeper.look(tenant, lease)
  const begin = part(decider, id, { verb: 'begin', id, set }, { ...about, seen: NOT_THERE })
  try {
    const { rows } = await plan(scope, [engine.keeper.takePart(lease, name, standing, about), begin], { open: session })
    return await handOf(scope, engine.keeper.keep(tenant, lease, rows[0]), id, rows[1])
  } catch (error) {
    if (!isConflict(error, 'names')) throw error
    const other = await runByName(scope, session, name, key)
    throw refuse('KEY_REUSED', { run: other?.id ?? '', name, state: other?.state ?? '', key })
  }
}
