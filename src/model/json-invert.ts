// The inverse of a patch: operations that lead from the patched document back to the document.

import { applyStep, type PatchLimits, type PatchOperation, type PatchStep, patchedDocument, replaceRoot, stepsOf } from './json-patch.ts'
import { pointerOf } from './json-pointer.ts'
import { limits } from './limits.ts'
import type { PatchedDocument } from './patched-document.ts'

/** Returns the patch that undoes `ops`, which must be applicable to the document. Members may come back in another order. */
export function invert(document: unknown, ops: readonly PatchOperation[], options?: PatchLimits): readonly PatchOperation[] {
  const patched = patchedDocument(document, options)
  const groups: (readonly PatchOperation[])[] = []
  for (const step of stepsOf(ops, options)) {
    // Shares the parts that the inverse refers to, so that the next operation does not change them in place.
    patched.share()
    groups.push(undoing(patched, step))
  }
  const inverse = groups.reverse().flat()
  // A move onto another member takes two operations to undo.
  return inverse.length <= (options?.operations ?? limits.patchOperations) ? inverse : replaceRoot(document)
}

/** Applies one operation, and returns what undoes it. A move is a removal and an addition, undone in the opposite order. */
function undoing(document: PatchedDocument, step: PatchStep): readonly PatchOperation[] {
  const { number, path } = step
  switch (step.op) {
    case 'test':
      applyStep(document, step)
      return []
    case 'replace': {
      const value = document.get(number, path)
      applyStep(document, step)
      return [{ op: 'replace', path: pointerOf(path), value }]
    }
    case 'remove': {
      const value = document.get(number, path)
      applyStep(document, step)
      return [{ op: 'add', path: pointerOf(path), value }]
    }
    case 'move': {
      const value = document.get(number, step.from)
      const before = document.root
      applyStep(document, step)
      if (document.root === before) return []
      // The addition is looked at in the document from which the value is removed already.
      const between = patchedDocument(before)
      between.remove(number, step.from)
      return movingBack(undoOfAdding(between, step), step.from, value)
    }
    default: {
      const undo = undoOfAdding(document, step)
      applyStep(document, step)
      return [undo]
    }
  }
}

function movingBack(undo: PatchOperation, from: readonly string[], value: unknown): readonly PatchOperation[] {
  const path = pointerOf(from)
  // A shorter form, unless the way back leads into the place that is left.
  if (undo.op === 'remove' && !path.startsWith(`${undo.path}/`)) return [{ op: 'move', from: undo.path, path }]
  return [undo, { op: 'add', path, value }]
}

/** Returns the operation that undoes an addition to the document as it stands before. */
function undoOfAdding(document: PatchedDocument, { number, path }: PatchStep): PatchOperation {
  if (path.length === 0) return { op: 'replace', path: '', value: document.root }
  const above = path.slice(0, -1)
  const step = path.at(-1) as string
  const parent = document.get(number, above)
  if (Array.isArray(parent)) return { op: 'remove', path: pointerOf([...above, step === '-' ? String(parent.length) : step]) }
  const isThere = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, step)
  if (!isThere) return { op: 'remove', path: pointerOf(path) }
  return { op: 'replace', path: pointerOf(path), value: (parent as Readonly<Record<string, unknown>>)[step] }
}
