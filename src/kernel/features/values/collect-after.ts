// Garbage collection in `maintain`: after so many commits, or so many bytes of values and blobs, that this process has written in a tenant.

import { InkError } from '../../../model/errors.ts'
import { writtenOf } from '../../content/writes-since-collection.ts'
import type { Scope } from '../../wiring/scope.ts'
import { collect } from './collect.ts'

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
