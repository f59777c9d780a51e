// Forks: another session or run that shares what was recorded up to a seq, and copies nothing.

import { refuse } from '../../model/errors.ts'
import { checkKnown, checkSeq, optionsOf } from '../../model/options.ts'
import type { RunRow } from '../../model/run.ts'
import type { SessionRow } from '../../model/session.ts'
import { type DoneRow, NOT_THERE, part, plan } from '../execute.ts'
import { isConflict } from '../outcome.ts'
import type { Scope } from '../scope.ts'
import { maskKey, openSession, type Session } from '../session.ts'
import { runByName } from './find-run.ts'
import { leaseId } from './names.ts'
import { handOf } from './open.ts'
import type { Run } from './run.ts'
import { run as decider } from './run-decider.ts'
import { load } from './stored.ts'

export interface ForkOptions {
  /** The last seq that is shared. */
  readonly at: number
  /** The key of the fork; by default one of its own. */
  readonly key?: string
}

export async function forkSession(scope: Scope, from: SessionRow, options: ForkOptions): Promise<Session> {
  const at = await sharedUpTo(scope, options)
  const key = optionsOf(options, 'fork').key ?? scope.engine.newId()
  return openSession(scope, key, {
    branch: 'branch',
    relation: { kind: 'fork', session: from.id, at },
    ...(from.title !== undefined && { title: from.title }),
    ...(from.owner !== undefined && { owner: from.owner }),
    ...(from.metadata && { metadata: from.metadata }),
  })
}

async function sharedUpTo({ engine, tenant }: Scope, options: ForkOptions): Promise<number> {
  const { at: given, key: _, ...unknown } = optionsOf(options, 'fork')
  checkKnown(unknown, 'a fork')
  const at = checkSeq(given)
  const { seq: head } = await engine.backend.journal.head(tenant)
  if (at > head) throw refuse('RANGE_INVALID', { why: `the journal ends at ${head}, so nothing can be shared up to ${at}` })
  return at
}

/** A fork goes on beside the run it came from, under a lease of its own. Nobody waits for it as they may for the other. */
export async function forkRun(scope: Scope, from: RunRow, options: ForkOptions): Promise<Run> {
  const { engine, tenant } = scope
  const at = await sharedUpTo(scope, options)
  const id = engine.newId<'run'>()
  const key = options.key === undefined ? id : maskKey(scope, options.key)
  const { session, name, input, origin } = from
  // As for opening: what cannot be read is found out before a lease is taken for it.
  await load(scope, input)
  const about = { session, run: id }
  const set = { session, name, key, parallel: true, origin, fork: { run: from.id, at }, ...(input && { input }) }
  const lease = leaseId(scope, session, id, true)
  const standing = await engine.keeper.look(tenant, lease)
  const begin = part(decider, id, { verb: 'begin', id, set }, { ...about, seen: NOT_THERE })
  try {
    const { rows } = await plan(scope, [engine.keeper.takePart(lease, name, standing, about), begin], { open: session })
    return await handOf(scope, engine.keeper.keep(tenant, lease, rows[0] as DoneRow), id, rows[1] as DoneRow)
  } catch (error) {
    if (!isConflict(error, 'names')) throw error
    const other = await runByName(scope, session, name, key)
    throw refuse('KEY_REUSED', { run: other?.id ?? '', name, state: other?.state ?? '', key })
  }
}
