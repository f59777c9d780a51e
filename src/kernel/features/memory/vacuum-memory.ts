// Gives the space of removed items, index entries and vectors back to the file system, at the times of a cron line in UTC. The word index itself
// needs no vacuum: a removed item leaves no entry.

import { stopIfAsked } from '../../reading/abortable.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Scope } from '../../wiring/scope.ts'
import { lineOf, takeLine } from '../cron/line.ts'

/** Sundays at midnight. */
const WEEKLY = '0 0 * * 0'

/** When this process last looked whether a time of the line had come, by tenant. */
const looks = enginePart(() => new Map<string, number>())

/** The bytes that were given back, or undefined if no time of the line has come since this process looked first. */
export async function vacuumMemory(scope: Scope, now: number, signal: AbortSignal | undefined): Promise<number | undefined> {
  const { engine, tenant } = scope
  const looked = looks(engine)
  const last = looked.get(tenant) ?? now
  const next = lineOf(takeLine(engine.options.memory?.vacuum ?? WEEKLY)).next(last)
  const isDue = next !== undefined && next <= now
  looked.set(tenant, isDue ? now : last)
  if (!isDue) return undefined
  let freed = 0
  for (;;) {
    stopIfAsked(scope, signal)
    const bytes = (await engine.backend.upkeep.reclaim?.(tenant)) ?? 0
    if (bytes === 0) return freed
    freed += bytes
  }
}
