// Masks secrets in a patch. The value of an operation is looked at in its place: under the names of its path, and beside the members and items
// that say what it is.

import { applyStep, type PatchOperation, type PatchStep, patchedDocument, stepsOf } from '../../model/json-patch.ts'
import { pointerOf, pointerSteps } from '../../model/json-pointer.ts'
import { limits } from '../../model/limits.ts'
import type { Redactor } from '../redact/redactor.ts'

export function maskPatch(redactor: Redactor, document: unknown, ops: readonly PatchOperation[]): readonly PatchOperation[] {
  // An operation finds beside it what earlier ones of the same patch have written.
  const patched = patchedDocument(document, { depth: limits.canvasDepth })
  return ops.map((op, i) => {
    const masked = maskOperation(redactor, patched.root, op, i)
    if (i < ops.length - 1) applyStep(patched, { ...(stepsOf([masked])[0] as PatchStep), number: i })
    return masked
  })
}

function maskOperation(redactor: Redactor, document: unknown, op: PatchOperation, i: number): PatchOperation {
  const path = pointerSteps(op.path, i, 'path')
  if ('from' in op) return { ...op, path: maskedPath(redactor, path), from: maskedPath(redactor, pointerSteps(op.from, i, 'from')) }
  if (op.op === 'remove') return { ...op, path: maskedPath(redactor, path) }
  const { steps, value } = maskedAt(redactor, levelsOf(document, path), op.value)
  return { ...op, path: pointerOf(steps), value }
}

const maskedPath = (redactor: Redactor, path: readonly string[]): string =>
  pointerOf(maskedAt(redactor, levelsOf(undefined, path), null).steps)

/** One step of a path, and what stands beside the place that it leads to: items of a list, or members. */
type Level =
  | { readonly step: string; readonly items: readonly string[] }
  | { readonly step: string; readonly members: Readonly<Record<string, string>> }

function levelsOf(document: unknown, path: readonly string[]): readonly Level[] {
  let at = document
  return path.map((step) => {
    const here = at
    at =
      typeof here === 'object' && here !== null && Object.hasOwn(here, step) ? (here as Readonly<Record<string, unknown>>)[step] : undefined
    return Array.isArray(here) ? { step, items: itemsBeside(here, step) } : { step, members: membersBeside(here, step) }
  })
}

/** Texts that say what another member is are short, and so are the objects in which they do: `{ name: 'password', value: … }`. */
const TEXT_CHARS = 64
const MEMBERS = 32

function membersBeside(object: unknown, step: string): Readonly<Record<string, string>> {
  if (typeof object !== 'object' || object === null) return {}
  const entries = Object.entries(object)
  if (entries.length > MEMBERS) return {}
  return Object.fromEntries(entries.filter(([key, value]) => key !== step && typeof value === 'string' && value.length <= TEXT_CHARS))
}

/** Only the second of two items is named by the first: `['authorization', …]`. */
function itemsBeside(list: readonly unknown[], step: string): readonly string[] {
  const [first] = list
  const isSecond = (step === '-' && list.length === 1) || (step === '1' && list.length <= 2)
  return isSecond && typeof first === 'string' && first.length <= TEXT_CHARS ? [first] : []
}

function maskedAt(
  redactor: Redactor,
  levels: readonly Level[],
  value: unknown,
): { readonly steps: readonly string[]; readonly value: unknown } {
  const nested = levels.reduceRight<unknown>(
    (inner, level) => ('items' in level ? [...level.items, inner] : { [level.step]: inner, ...level.members }),
    value,
  )
  let masked = redactor.value(nested)
  const steps = levels.map((level) => {
    if ('items' in level) {
      masked = (masked as readonly unknown[]).at(-1)
      return level.step
    }
    // A member whose name was masked is the one that is not beside it.
    const entries = Object.entries(masked as Readonly<Record<string, unknown>>)
    const found = entries.find(([key]) => key === level.step) ?? entries.find(([key]) => !Object.hasOwn(level.members, key))
    const [name, inner] = found ?? (entries[0] as [string, unknown])
    masked = inner
    return name
  })
  return { steps, value: masked }
}
