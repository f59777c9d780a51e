// Masks secrets in a patch. The value of an operation is looked at under the names of its path: `add /password` names the secret by its place.

import type { PatchOperation } from '../../model/json-patch.ts'
import { pointerOf, pointerSteps } from '../../model/json-pointer.ts'
import type { Redactor } from '../redact/redactor.ts'

type Members = Readonly<Record<string, unknown>>

export function maskPatch(redactor: Redactor, document: unknown, ops: readonly PatchOperation[]): readonly PatchOperation[] {
  return ops.map((op, i) => {
    const path = pointerSteps(op.path, i, 'path')
    if ('from' in op) return { ...op, path: maskedPath(redactor, path), from: maskedPath(redactor, pointerSteps(op.from, i, 'from')) }
    if (op.op === 'remove') return { ...op, path: maskedPath(redactor, path) }
    const { steps, value } = maskedAt(redactor, path, op.value, siblingsOf(document, path))
    return { ...op, path: pointerOf(steps), value }
  })
}

const maskedPath = (redactor: Redactor, path: readonly string[]): string => pointerOf(maskedAt(redactor, path, null, {}).steps)

/** Texts beside the place may say what it is: `{ name: 'password', value: … }`. */
function siblingsOf(document: unknown, path: readonly string[]): Members {
  let at = document
  for (const step of path.slice(0, -1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return {}
    at = (at as Members)[step]
  }
  if (typeof at !== 'object' || at === null || Array.isArray(at)) return {}
  return Object.fromEntries(Object.entries(at).filter(([key, value]) => key !== path.at(-1) && typeof value === 'string'))
}

function maskedAt(
  redactor: Redactor,
  path: readonly string[],
  value: unknown,
  beside: Members,
): { readonly steps: readonly string[]; readonly value: unknown } {
  // The member comes first at each level, and is found there again even if its name was masked.
  const nested = path.reduceRight<unknown>(
    (inner, step, i) => Object.fromEntries([[step, inner], ...(i === path.length - 1 ? Object.entries(beside) : [])]),
    value,
  )
  let masked = redactor.value(nested)
  const steps = path.map((step) => {
    const entries = Object.entries(masked as Members)
    const [name, inner] = entries.find(([key]) => key === step) ?? (entries[0] as [string, unknown])
    masked = inner
    return name
  })
  return { steps, value: masked }
}
