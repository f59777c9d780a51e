// The health of a store: recent slow writes, and what its backend reports.

import { limits } from '../model/limits.ts'
import type { Scope } from './scope.ts'
import type { BudgetStats } from './write-budget.ts'

export interface Health {
  readonly status: 'ok' | 'degraded'
  readonly why: readonly string[]
  /** On PostgreSQL: a powerful login (one URL for everything) could leave the wall between tenants; a restricted one cannot. */
  readonly login?: 'restricted' | 'powerful'
}

export async function health({ engine }: Scope): Promise<Health> {
  if (engine.closing.aborted) return { status: 'degraded', why: ['the store is closed'] }
  const { budget } = engine.lane.stats()
  const slow = (budget.sinceLastBreachMs ?? Infinity) < limits.breachMemoryMs
  const backend = await engine.backend.upkeep.health()
  const why = [...(slow ? [slowText(budget)] : []), ...backend.why]
  const { login } = backend
  return { status: why.length === 0 && backend.ok ? 'ok' : 'degraded', why, ...(login && { login }) }
}

function slowText({ ms, breaches, lastBreach }: BudgetStats): string {
  const { ms: whole, ...parts } = lastBreach ?? { ms }
  const told = Object.entries(parts).map(([name, time]) => `${name} ${Math.round(time)}`)
  const last = `the last took ${Math.round(whole)} ms: ${told.join(', ')}`
  return `a write took longer than ${ms} ms within the last minute (${breaches} in all; ${last})`
}
