// The difference of two JSON documents as a patch. Where a patch of a part would be longer than the part itself, the part is replaced.

import { refuse } from './errors.ts'
import { jsonEqual } from './json-equal.ts'
import { type PatchOperation, patchedDocument, replaceRoot } from './json-patch.ts'
import { pointerBelow } from './json-pointer.ts'
import { limits } from './limits.ts'

/** Returns a patch that makes `a` equal to `b`. It is empty if they are equal. Where it would have too many operations, it replaces the root. */
export function diff(a: unknown, b: unknown): readonly PatchOperation[] {
  for (const document of [a, b]) patchedDocument(undefined, { bytes: Infinity }).measured(0, document, 0)
  return difference(a, b)
}

/** The same for documents that are known to be JSON. */
export function difference(a: unknown, b: unknown): readonly PatchOperation[] {
  const ops = differ(a, b, '', 0)
  return ops.length <= limits.patchOperations ? ops : replaceRoot(b)
}

function differ(a: unknown, b: unknown, path: string, depth: number): readonly PatchOperation[] {
  if (depth > limits.patchDepth) throw refuse('PATCH_TOO_LARGE', { limit: limits.patchDepth, unit: 'levels' })
  if (jsonEqual(a, b)) return []
  const replaced: PatchOperation = { op: 'replace', path, value: b }
  const small =
    Array.isArray(a) && Array.isArray(b) ? ofItems(a, b, path, depth) : isObject(a) && isObject(b) && ofMembers(a, b, path, depth)
  if (!small) return [replaced]
  return lengthOf(small) < lengthOf([replaced]) ? small : [replaced]
}

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

const lengthOf = (ops: readonly PatchOperation[]): number => JSON.stringify(ops).length

function ofMembers(a: Members, b: Members, path: string, depth: number): readonly PatchOperation[] | undefined {
  const ops: PatchOperation[] = []
  for (const key of Object.keys(a)) {
    if (Object.hasOwn(b, key) && jsonEqual(a[key], b[key])) continue
    // No path may name it, so the object is replaced as a whole.
    if (key === '__proto__') return undefined
    if (Object.hasOwn(b, key)) ops.push(...differ(a[key], b[key], pointerBelow(path, key), depth + 1))
    else ops.push({ op: 'remove', path: pointerBelow(path, key) })
  }
  for (const key of Object.keys(b)) {
    if (Object.hasOwn(a, key)) continue
    if (key === '__proto__') return undefined
    ops.push({ op: 'add', path: pointerBelow(path, key), value: b[key] })
  }
  return ops
}

/** Items that both lists have are kept. Between them, items are changed one by one, and what is left over is removed or added. */
function ofItems(a: readonly unknown[], b: readonly unknown[], path: string, depth: number): readonly PatchOperation[] {
  const ops: PatchOperation[] = []
  let [i, j] = [0, 0]
  // The position in the list as the operations so far leave it is that in `b`.
  const bridge = (toA: number, toB: number): void => {
    for (; i < toA && j < toB; i++, j++) ops.push(...differ(a[i], b[j], pointerBelow(path, j), depth + 1))
    for (; i < toA; i++) ops.push({ op: 'remove', path: pointerBelow(path, j) })
    for (; j < toB; j++) ops.push({ op: 'add', path: pointerBelow(path, j), value: b[j] })
  }
  for (const [inA, inB] of commonItems(a, b)) {
    bridge(inA, inB)
    i++
    j++
  }
  bridge(a.length, b.length)
  return ops
}

/** Cells of the table of a longest common subsequence. Longer lists are compared place by place between their equal ends. */
const CELLS = 250_000

/** Pairs of positions of equal items, in order. */
function commonItems(a: readonly unknown[], b: readonly unknown[]): readonly (readonly [number, number])[] {
  const most = Math.min(a.length, b.length)
  let first = 0
  while (first < most && jsonEqual(a[first], b[first])) first++
  let last = 0
  while (last < most - first && jsonEqual(a[a.length - 1 - last], b[b.length - 1 - last])) last++
  const pairs: (readonly [number, number])[] = Array.from({ length: first }, (_, i) => [i, i] as const)
  const [rows, columns] = [a.length - first - last, b.length - first - last]
  if (rows * columns <= CELLS) pairs.push(...longestCommon(a, b, first, rows, columns))
  else for (let i = first; i < most - last; i++) if (jsonEqual(a[i], b[i])) pairs.push([i, i])
  for (let k = last; k > 0; k--) pairs.push([a.length - k, b.length - k])
  return pairs
}

function longestCommon(
  a: readonly unknown[],
  b: readonly unknown[],
  first: number,
  rows: number,
  columns: number,
): readonly (readonly [number, number])[] {
  const width = columns + 1
  const table = new Uint32Array((rows + 1) * width)
  const same = new Uint8Array(rows * columns)
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--) {
      const equal = jsonEqual(a[first + i], b[first + j])
      if (equal) same[i * columns + j] = 1
      table[i * width + j] = equal
        ? (table[(i + 1) * width + j + 1] as number) + 1
        : Math.max(table[(i + 1) * width + j] as number, table[i * width + j + 1] as number)
    }
  const pairs: (readonly [number, number])[] = []
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    if (same[i * columns + j]) pairs.push([first + i++, first + j++])
    else if ((table[(i + 1) * width + j] as number) >= (table[i * width + j + 1] as number)) i++
    else j++
  }
  return pairs
}
