// Garbage collection in `maintain`: after so many commits, or so many bytes of values and blobs, that this process has written in a tenant.

import { InkError } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import type { Commit } from '../../ports/commit.ts'
import { enginePart } from '../engine-part.ts'
import type { Scope } from '../scope.ts'
import { collect } from './collect.ts'

export interface CollectAfter {
  readonly commits?: number
  readonly bytes?: number
}

/** What this process has written since the last collection, by tenant. */
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

const writtenOf = enginePart(() => new Written())

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

/** Collects the tenant if enough was written. Another node that collects at the same time is left alone. */
export async function collectIfDue(scope: Scope): Promise<Readonly<Record<string, number>>> {
  const { engine, tenant } = scope
  const { commits = Infinity, bytes = Infinity } = engine.options.collectAfter ?? {}
  const written = writtenOf(engine).of(tenant)
  if (written.commits < commits && written.bytes < bytes) return {}
  try {
    const { deleted } = await collect(scope)
    writtenOf(engine).forget(tenant)
    return { nodesCollected: deleted.nodes, blobsCollected: deleted.blobs, bytesCollected: deleted.bytes }
  } catch (error) {
    if (error instanceof InkError && error.code === 'COLLECTION_REPLACED') return {}
    throw error
  }
}
