// Forks: another session or run that shares what was recorded up to a seq, and copies nothing.

import { refuse } from '../../model/errors.ts'
import { checkSeq, optionsOf } from '../../model/options.ts'
import type { RunRow } from '../../model/run.ts'
import type { SessionRow } from '../../model/session.ts'
import { type DoneRow, NOT_THERE, part, plan } from '../execute.ts'
import type { Scope } from '../scope.ts'
import { openSession, type Session } from '../session.ts'
import { leaseId } from './names.ts'
import { handOf } from './open.ts'
import type { Run } from './run.ts'
import { run as decider } from './run-decider.ts'

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
  const at = checkSeq(optionsOf(options, 'fork').at)
  const { seq: head } = await engine.backend.journal.head(tenant)
  if (at > head) throw refuse('RANGE_INVALID', { why: `the journal ends at ${head}, so nothing can be shared up to ${at}` })
  return at
}

/** A fork goes on beside the run it came from, under a lease of its own. */
export async function forkRun(scope: Scope, from: RunRow, options: ForkOptions): Promise<Run> {
  const { engine, tenant } = scope
  const at = await sharedUpTo(scope, options)
  const id = engine.newId<'run'>()
  const { session, name, input, parent, origin } = from
  const about = { session, run: id }
  const set = {
    session,
    name,
    key: options.key ?? id,
    input,
    parallel: true,
    origin,
    fork: { run: from.id, at },
    ...(parent && { parent }),
  }
  const lease = leaseId(scope, session, id, true)
  const standing = await engine.keeper.look(tenant, lease)
  const parts = [
    engine.keeper.takePart(lease, name, standing, about),
    part(decider, id, { verb: 'begin', id, set }, { ...about, seen: NOT_THERE }),
  ]
  const { rows } = await plan(scope, parts, { open: session })
  return handOf(scope, engine.keeper.keep(tenant, lease, rows[0] as DoneRow), id, rows[1] as DoneRow)
}
