// A pointer to a blob: a namespace and a reference in it, such as `module` and `sha256:3f…`.

import type { BlobRef } from './blob.ts'
import type { Id } from './ids.ts'
import { invalidOption } from './options.ts'

export interface ArtifactRow {
  readonly id: Id<'artifact'>
  /** The payload of the last event; absent if it was erased. */
  readonly to?: { readonly namespace: string; readonly reference: string; readonly blob: BlobRef }
}

const ENVIRONMENT_NAME = /^process-env:sha256:[0-9a-f]{64}$/

/** Checks the name that `artifacts.putEnvironment` returned. */
export function checkEnvironment(env: unknown): string {
  if (typeof env === 'string' && ENVIRONMENT_NAME.test(env)) return env
  throw invalidOption('env', 'process-env:sha256: and a digest, as artifacts.putEnvironment returns it', env)
}
