// JSON Patch (RFC 6902): operations that are applied to a document together or not at all. The document is not changed: the result shares
// with it what no operation has touched.

import { type InkError, refuse } from './errors.ts'
import { jsonEqual } from './json-equal.ts'
import { isBelow, pointerOf, pointerSteps } from './json-pointer.ts'
import { limits } from './limits.ts'
import { checkKnown, invalidOption, optionsOf } from './options.ts'
import { PatchedDocument } from './patched-document.ts'

export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

export interface PatchLimits {
  /** Operations of one patch. The default is `limits.patchOperations`. */
  readonly operations?: number
  /** Levels of the document. The default is `limits.patchDepth`. */
  readonly depth?: number
  /** Bytes that the patch adds and copies, as JSON. The default is `limits.patchBytes`. */
  readonly bytes?: number
}

/** Applies a patch. Throws PATCH_INVALID, PATCH_FAILED, PATCH_TEST_FAILED or PATCH_TOO_LARGE, each with the number of the operation. */
export function applyPatch(document: unknown, ops: readonly PatchOperation[], options?: PatchLimits): unknown {
  const patched = patchedDocument(document, options)
  for (const step of stepsOf(ops, options)) applyStep(patched, step)
  return patched.root
}

/** The patch that replaces the whole document. */
export const replaceRoot = (document: unknown): readonly PatchOperation[] => [{ op: 'replace', path: '', value: document }]

/** A checked operation. `number` is its position in the patch. */
export type PatchStep = { readonly number: number; readonly path: readonly string[] } & (
  | { readonly op: 'add' | 'replace' | 'test'; readonly value: unknown }
  | { readonly op: 'remove' }
  | { readonly op: 'move' | 'copy'; readonly from: readonly string[] }
)

export const patchedDocument = (document: unknown, options?: PatchLimits): PatchedDocument => {
  const {
    bytes = limits.patchBytes,
    depth = limits.patchDepth,
    operations = limits.patchOperations,
    ...unknown
  } = optionsOf(options, 'patch limits')
  checkKnown(unknown, 'a patch')
  for (const [name, limit] of Object.entries({ bytes, depth, operations }))
    if (typeof limit !== 'number' || !(limit >= 0)) throw invalidOption(name, 'a number ≥ 0', limit)
  return new PatchedDocument(document, { bytes, depth })
}

/** Checks all operations before the first one is applied. */
export function stepsOf(ops: readonly PatchOperation[], options: PatchLimits = {}): readonly PatchStep[] {
  if (!Array.isArray(ops)) throw refuse('PATCH_INVALID', { operation: 0, why: 'a patch is an array of operations' })
  const limit = options.operations ?? limits.patchOperations
  if (ops.length > limit) throw refuse('PATCH_TOO_LARGE', { limit, unit: 'operations', found: ops.length })
  return Array.from(ops, stepOf)
}

/** Checks a patch without a document. Returns the operations with the members that RFC 6902 defines. */
export function checkPatch(ops: readonly PatchOperation[], options?: PatchLimits): readonly PatchOperation[] {
  const measuring = patchedDocument(undefined, options)
  return stepsOf(ops, options).map((step) => {
    const path = pointerOf(step.path)
    if (step.op === 'remove') return { op: step.op, path }
    if ('from' in step) return { op: step.op, path, from: pointerOf(step.from) }
    return { op: step.op, path, value: measuring.measured(step.number, step.value, step.path.length) }
  })
}

function stepOf(given: unknown, number: number): PatchStep {
  const invalid = (why: string): InkError => refuse('PATCH_INVALID', { operation: number, why })
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalid('an operation is an object')
  const own = (name: string): unknown => (Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : undefined)
  const op = own('op')
  const path = pointerSteps(own('path'), number, 'path')
  switch (op) {
    case 'add':
    case 'replace':
    case 'test': {
      const value = own('value')
      if (value === undefined) throw invalid(`'${op}' has no 'value'`)
      return { number, op, path, value }
    }
    case 'remove':
      return { number, op, path }
    case 'move':
    case 'copy': {
      const from = pointerSteps(own('from'), number, 'from')
      if (op === 'move' && isBelow(path, from)) throw invalid('nothing can be moved into itself')
      return { number, op, path, from }
    }
    default:
      throw invalid(typeof op === 'string' ? `the operation '${op.slice(0, 40)}' is unknown` : "'op' is missing or not a text")
  }
}

export function applyStep(document: PatchedDocument, step: PatchStep): void {
  const { number, path } = step
  switch (step.op) {
    case 'add':
      document.add(number, path, document.measured(number, step.value, path.length))
      break
    case 'replace':
      document.replace(number, path, document.measured(number, step.value, path.length))
      break
    case 'remove':
      document.remove(number, path)
      break
    case 'copy': {
      const value = document.measured(number, document.get(number, step.from), path.length)
      document.share()
      document.add(number, path, value)
      break
    }
    case 'move': {
      const value = document.get(number, step.from)
      // Moved to where it is: only its existence was asked.
      if (pointerOf(step.from) === pointerOf(path)) break
      document.checkDepth(number, value, path.length)
      document.remove(number, step.from)
      document.add(number, path, value)
      break
    }
    case 'test':
      if (!jsonEqual(document.get(number, path), document.measured(number, step.value, path.length)))
        throw refuse('PATCH_TEST_FAILED', { operation: number, path: pointerOf(path) })
  }
}
