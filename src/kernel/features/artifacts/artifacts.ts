// `store.artifacts`: bytes under a namespace and a reference. Modules and environments are named by their content, other references can be
// put again.

import { type BlobRef, takeDigest } from '../../../model/blob.ts'
import { fromUtf8, hex, utf8 } from '../../../model/bytes.ts'
import { canonical } from '../../../model/canonical.ts'
import { takeData } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKey, invalidOption } from '../../../model/options.ts'
import type { BlobKind } from '../../content/blob-storage.ts'
import { getBlob, putFresh } from '../../content/blobs.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { execute, readRow } from '../../writing/execute.ts'
import { artifact } from './artifact-decider.ts'
import { modulesOf } from './module-cache.ts'

export interface StoreArtifacts {
  /**
   * Stores bytes, or points to a blob that exists, under a reference. In the namespaces `module` and `process-env` the reference is
   * `sha256:` and the digest of the bytes, and is checked. In every other namespace a later put replaces the pointer.
   */
  put(namespace: string, reference: string, content: Uint8Array | BlobRef): Promise<BlobRef>
  /** Returns the bytes, or undefined if nothing was put. A pointer whose blob is missing is refused with BLOB_UNKNOWN. */
  get(namespace: string, reference: string): Promise<Uint8Array | undefined>
  /** Stores an execution environment as canonical JSON. Returns `process-env:sha256:` and its digest. */
  putEnvironment(environment: unknown): Promise<string>
  /** Reads an environment by the name that `putEnvironment` returned. */
  getEnvironment(name: string): Promise<unknown>
}

const MODULE = 'module'
const ENVIRONMENT = 'process-env'
/** Namespaces whose references are digests, with the kind of their blobs. */
const BY_CONTENT: Readonly<Record<string, BlobKind>> = { [MODULE]: 'module', [ENVIRONMENT]: 'process-environment' }
const NAMESPACE = /^[a-z0-9][a-z0-9._-]*$/

export const storeArtifacts = (scope: Scope): StoreArtifacts => ({
  put: (namespace, reference, content) => putArtifact(scope, namespace, reference, content),
  get: (namespace, reference) => getArtifact(scope, namespace, reference),
  putEnvironment: async (environment) => {
    const bytes = utf8(canonical(telling(scope, () => takeData(environment))))
    const reference = `sha256:${hex(scope.engine.environment.digest.sha256(bytes))}`
    await putArtifact(scope, ENVIRONMENT, reference, bytes)
    return `${ENVIRONMENT}:${reference}`
  },
  getEnvironment: async (name) => {
    if (typeof name !== 'string' || !name.startsWith(`${ENVIRONMENT}:`))
      throw invalidOption('name', `${ENVIRONMENT}:sha256: and a digest`, name)
    const bytes = await getArtifact(scope, ENVIRONMENT, name.slice(ENVIRONMENT.length + 1))
    return bytes && JSON.parse(fromUtf8(bytes))
  },
})

async function putArtifact(scope: Scope, namespace: string, reference: string, content: Uint8Array | BlobRef): Promise<BlobRef> {
  checkOpen(scope.engine)
  checkName(namespace, reference)
  const taken = content instanceof Uint8Array ? new Uint8Array(content) : undefined
  const given = taken
    ? { digest: hex(scope.engine.environment.digest.sha256(taken)), bytes: taken.length }
    : (content as BlobRef | undefined)
  const digest = takeDigest(given?.digest)
  if (!Number.isSafeInteger(given?.bytes)) throw invalidOption('content', 'a Uint8Array or the reference of a blob', content)
  const { bytes } = given as BlobRef
  const kind = Object.hasOwn(BY_CONTENT, namespace) ? BY_CONTENT[namespace] : undefined
  if (kind && reference !== `sha256:${digest}`) throw refuse('ARTIFACT_MISMATCH', { namespace, reference, found: `sha256:${digest}` })
  const blob = taken ? await putFresh(scope, taken, { kind: kind ?? 'generic' }) : { digest, bytes }
  const guards = [{ kind: 'blob' as const, digest: blob.digest }]
  await execute(scope, artifact, idOf(scope, namespace, reference), { verb: 'point', to: { namespace, reference, blob } }, { guards })
  return blob
}

async function getArtifact(scope: Scope, namespace: string, reference: string): Promise<Uint8Array | undefined> {
  checkOpen(scope.engine)
  checkName(namespace, reference)
  const { body: row } = await readRow(scope, 'artifacts', idOf(scope, namespace, reference))
  if (!row?.to) return undefined
  const { blob } = row.to
  if (namespace !== MODULE) return getBlob(scope, blob)
  const modules = modulesOf(scope.engine)
  const known = modules.get(scope.tenant, blob.digest)
  if (known) return known
  const bytes = await getBlob(scope, blob)
  modules.keep(scope.tenant, blob.digest, bytes)
  return bytes
}

const idOf = (scope: Scope, namespace: string, reference: string) => derivedId<'artifact'>(scope, `artifact/${namespace}/${reference}`)

function checkName(namespace: string, reference: string): void {
  if (typeof namespace !== 'string' || !NAMESPACE.test(namespace) || namespace.length > limits.blobWordChars)
    throw invalidOption('namespace', `1 to ${limits.blobWordChars} of a-z, 0-9, '.', '_' and '-'`)
  checkKey(reference)
}
