// Masks secrets in a patch. The value of an operation is looked at in its place: under the names of its path, and beside the members and items
// that say what it is.

import { applyStep, type PatchOperation, type PatchStep, patchedDocument, stepsOf } from '../../../model/json-patch.ts'
import { pointerOf, pointerSteps } from '../../../model/json-pointer.ts'
import { limits } from '../../../model/limits.ts'
import { setMember } from '../../../model/patched-document.ts'
import type { Redactor } from '../../../redact/redactor.ts'

export function maskPatch(redactor: Redactor, document: unknown, ops: readonly PatchOperation[]): readonly PatchOperation[] {
  // An operation finds beside it what earlier ones of the same patch have written.
  const patched = patchedDocument(document, { depth: limits.canvasDepth })
  const again = ops.slice(1).some(mayName)
  const masked = ops.map((op, i) => {
    const one = maskOperation(redactor, patched.root, op, i)
    if (again || i < ops.length - 1) applyStep(patched, { ...(stepsOf([one])[0] as PatchStep), number: i })
    return one
  })
  return again ? maskLate(redactor, patched.root, masked) : masked
}

/** Whether an operation may say that what an earlier one has written is a secret: by a text beside it, or by moving it under a name. */
const mayName = (op: PatchOperation): boolean => 'from' in op || ('value' in op && op.op !== 'test' && hasText(op.value))

const hasText = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null && Object.values(value).some(hasText))

/** The texts that are masked in the whole document are masked in all operations. */
function maskLate(redactor: Redactor, document: unknown, ops: readonly PatchOperation[]): readonly PatchOperation[] {
  const late = new Map<string, unknown>()
  findMasked(document, redactor.value(document), late)
  return late.size === 0 ? ops : ops.map((op) => ('value' in op ? { ...op, value: withMasked(op.value, late) } : op))
}

/** Masking keeps the order of items and members. */
function findMasked(plain: unknown, masked: unknown, found: Map<string, unknown>): void {
  if (typeof plain === 'string' && plain !== masked) found.set(plain, masked)
  if (typeof plain !== 'object' || plain === null) return
  const beside = typeof masked === 'object' && masked !== null ? Object.values(masked) : undefined
  for (const [i, item] of Object.values(plain).entries()) findMasked(item, beside ? beside[i] : masked, found)
}

function withMasked(value: unknown, late: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === 'string') return late.has(value) ? late.get(value) : value
  if (Array.isArray(value)) return value.map((item) => withMasked(item, late))
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) setMember(copy, key, withMasked(item, late))
  return copy
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
