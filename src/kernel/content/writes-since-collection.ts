// Counts commits and bytes of this process by tenant since the last collection: `maintain` collects after so many.

import type { TenantId } from '../../model/ids.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import type { Commit } from '../../ports/commit.ts'
import { enginePart } from '../wiring/per-engine.ts'
import type { Scope } from '../wiring/scope.ts'

export interface CollectAfter {
  readonly commits?: number
  readonly bytes?: number
}

/** Commits and bytes since the last collection, by tenant. */
class Written {
  readonly #byTenant = new Map<TenantId, { commits: number; bytes: number }>()

  of(tenant: TenantId): { commits: number; bytes: number } {
    const known = this.#byTenant.get(tenant)
    if (known) return known
    const none = { commits: 0, bytes: 0 }
    this.#byTenant.set(tenant, none)
    return none
  }

  forget(tenant: TenantId): void {
    this.#byTenant.delete(tenant)
  }
}

export const writtenOf = enginePart(() => new Written())

export function noteCommit(engine: Scope['engine'], { tenant, nodes = [] }: Commit): void {
  if (!engine.options.collectAfter) return
  const written = writtenOf(engine).of(tenant)
  written.commits++
  for (const { body } of nodes) written.bytes += body.length
}

export function noteBlob({ engine, tenant }: Pick<Scope, 'engine' | 'tenant'>, bytes: number): void {
  if (engine.options.collectAfter) writtenOf(engine).of(tenant).bytes += bytes
}

export function checkCollectAfter(given: CollectAfter | undefined): void {
  if (given === undefined) return
  const { commits, bytes, ...unknown } = optionsOf(given, 'open')
  checkKnown(unknown, 'collectAfter')
  for (const [name, count] of Object.entries({ commits, bytes }))
    if (count !== undefined && (!Number.isSafeInteger(count) || count < 1))
      throw invalidOption(`collectAfter.${name}`, 'a whole number above zero', count)
  if (commits === undefined && bytes === undefined) throw invalidOption('collectAfter', 'commits, bytes, or both', given)
}
