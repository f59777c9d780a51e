// The health of a store: slow writes, what its backend reports, and what its features found.

import { type ClockTrust, clockText } from '../../model/clock-trust.ts'
import { limits } from '../../model/limits.ts'
import type { Scope } from '../wiring/scope.ts'
import type { BudgetStats } from './write-budget.ts'

export interface Health {
  /** `degraded`: an operator should look at `why`. The store may still be in full use. */
  readonly status: 'ok' | 'degraded'
  /** The store answers reads and accepts writes: what a readiness probe asks. Slow writes do not change it. */
  readonly ready: boolean
  readonly why: readonly string[]
  /** On PostgreSQL: a powerful login (one URL for everything) could leave the wall between tenants; a restricted one cannot. */
  readonly login?: 'restricted' | 'powerful'
  /** On SQLite, present if the clock of this process is far ahead of the times in the file: nothing beyond `trusted` is removed by its age. */
  readonly clock?: ClockTrust
}

export async function health(scope: Scope): Promise<Health> {
  const { engine } = scope
  if (engine.closing.aborted) return { status: 'degraded', ready: false, why: ['the store is closed'] }
  const backend = await engine.backend.upkeep.health()
  // A store that does not answer is not asked for more.
  const found = backend.ready ? await engine.features.health(scope) : []
  const why = [
    ...slowWrites(engine.lane.stats().budget),
    ...backend.why,
    ...(backend.clock ? [clockText(backend.clock).found] : []),
    ...found,
  ]
  const { login, ready, clock } = backend
  return { status: why.length === 0 && backend.ok ? 'ok' : 'degraded', ready, why, ...(login && { login }), ...(clock && { clock }) }
}

/** One slow write says nothing: a share of all writes must be slow. */
function slowWrites({ ms, lastMinute: { writes, breaches }, lastBreach }: BudgetStats): readonly string[] {
  if (!lastBreach || breaches < limits.breachesLeast || breaches < writes * limits.breachShare) return []
  const { ms: whole, ...parts } = lastBreach
  const told = Object.entries(parts).map(([name, time]) => `${name} ${Math.round(time)}`)
  const last = `the last took ${Math.round(whole)} ms: ${told.join(', ')}`
  return [`${breaches} of ${writes} writes within the last minute took longer than ${ms} ms (${last})`]
}
