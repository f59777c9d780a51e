// A document while a patch is applied to it. Containers are copied when they are first changed, and changed in place after that.

import { utf8Length } from './bytes.ts'
import { type InkError, refuse } from './errors.ts'
import { pointerOf } from './json-pointer.ts'

type Container = unknown[] | Record<string, unknown>

interface Budget {
  readonly bytes: number
  readonly depth: number
}

const INDEX = /^(?:0|[1-9][0-9]*)$/

export class PatchedDocument {
  root: unknown
  /** Containers that this patch has made, which nobody else sees. */
  readonly #own = new Set<object>()
  readonly #budget: Budget
  #spent = 0

  constructor(root: unknown, budget: Budget) {
    this.root = root
    this.#budget = budget
  }

  get(number: number, path: readonly string[]): unknown {
    let at = this.root
    for (let i = 0; i < path.length; i++) at = memberOf(at, path, i, number)
    return at
  }

  add(number: number, path: readonly string[], value: unknown): void {
    if (path.length === 0) {
      this.root = value
      return
    }
    const { parent, step } = this.#parentOf(number, path)
    if (Array.isArray(parent)) parent.splice(step === '-' ? parent.length : indexOf(parent, path, number, parent.length), 0, value)
    else setMember(parent, step, value)
  }

  replace(number: number, path: readonly string[], value: unknown): void {
    if (path.length === 0) {
      this.root = value
      return
    }
    this.get(number, path)
    const { parent, step } = this.#parentOf(number, path)
    if (Array.isArray(parent)) parent[Number(step)] = value
    else setMember(parent, step, value)
  }

  remove(number: number, path: readonly string[]): void {
    if (path.length === 0) throw failed(number, path, 'the whole document cannot be removed')
    this.get(number, path)
    const { parent, step } = this.#parentOf(number, path)
    if (Array.isArray(parent)) parent.splice(Number(step), 1)
    else delete parent[step]
  }

  /** After a value stands in two places, a change of one must not change the other. */
  share(): void {
    this.#own.clear()
  }

  /** Counts what the patch brings. Values that are no JSON, and values beyond the limits, are refused. */
  measured(number: number, value: unknown, depth: number): unknown {
    this.#measure(number, value, depth)
    return value
  }

  checkDepth(number: number, value: unknown, depth: number): void {
    const before = this.#spent
    this.#measure(number, value, depth)
    this.#spent = before
  }

  #measure(number: number, value: unknown, depth: number): void {
    const flat = flatBytes(value)
    this.#spend(number, flat ?? 2)
    if (flat !== undefined) return
    if (typeof value !== 'object' || value === null || !isPlain(value))
      throw refuse('PATCH_INVALID', { operation: number, why: `its value contains ${nameOf(value)}, which is no JSON` })
    if (depth >= this.#budget.depth) throw refuse('PATCH_TOO_LARGE', { operation: number, limit: this.#budget.depth, unit: 'levels' })
    if (Array.isArray(value)) for (let i = 0; i < value.length; i++) this.#measure(number, value[i], depth + 1)
    else
      for (const key of Object.keys(value)) {
        this.#spend(number, key.length + 4)
        this.#measure(number, (value as Record<string, unknown>)[key], depth + 1)
      }
  }

  #spend(number: number, bytes: number): void {
    this.#spent += bytes
    if (this.#spent > this.#budget.bytes) throw refuse('PATCH_TOO_LARGE', { operation: number, limit: this.#budget.bytes, unit: 'bytes' })
  }

  /** The container of the last step, ready to be changed. */
  #parentOf(number: number, path: readonly string[]): { readonly parent: Container; readonly step: string } {
    if (path.length > this.#budget.depth) throw refuse('PATCH_TOO_LARGE', { operation: number, limit: this.#budget.depth, unit: 'levels' })
    const last = path.length - 1
    // The way is walked first, so that a path that leads nowhere copies nothing.
    let at = this.root
    for (let i = 0; i < last; i++) at = memberOf(at, path, i, number)
    if (typeof at !== 'object' || at === null) throw failed(number, path, 'its parent is neither an object nor an array')
    let parent = this.#owned(this.root as Container)
    this.root = parent
    for (let i = 0; i < last; i++) {
      const step = path[i] as string
      const child = this.#owned((Array.isArray(parent) ? parent[Number(step)] : parent[step]) as Container)
      if (Array.isArray(parent)) parent[Number(step)] = child
      else setMember(parent, step, child)
      parent = child
    }
    return { parent, step: path[last] as string }
  }

  #owned(container: Container): Container {
    if (this.#own.has(container)) return container
    const copy = Array.isArray(container) ? container.slice() : copyOf(container)
    this.#own.add(copy)
    return copy
  }
}

/** Undefined for anything but a text, a number, true, false or null. */
function flatBytes(value: unknown): number | undefined {
  if (value === null || typeof value === 'boolean') return 4
  if (typeof value === 'string') return utf8Length(value) + 2
  return typeof value === 'number' && Number.isFinite(value) ? 8 : undefined
}

function copyOf(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(object)) setMember(copy, key, object[key])
  return copy
}

/** Plain assignment of `__proto__` would set the prototype. Values may contain that name, paths may not. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

/** Own members only: a document has no `constructor` unless somebody added it. */
function memberOf(at: unknown, path: readonly string[], i: number, number: number): unknown {
  const step = path[i] as string
  const upTo = path.slice(0, i + 1)
  if (Array.isArray(at)) return at[indexOf(at, upTo, number, at.length - 1)]
  if (typeof at !== 'object' || at === null) throw failed(number, upTo, 'its parent is neither an object nor an array')
  if (!Object.hasOwn(at, step)) throw failed(number, upTo, 'there is no such member')
  return (at as Readonly<Record<string, unknown>>)[step]
}

function indexOf(items: readonly unknown[], path: readonly string[], number: number, most: number): number {
  const step = path.at(-1) as string
  if (step === '-') throw failed(number, path, "'-' stands for the place after the last item, where there is nothing")
  if (!INDEX.test(step)) throw failed(number, path, 'an index is 0, or digits without a leading zero')
  if (Number(step) > most) throw failed(number, path, `the array has ${items.length} items`)
  return Number(step)
}

const failed = (operation: number, path: readonly string[], why: string): InkError =>
  refuse('PATCH_FAILED', { operation, path: pointerOf(path), why })

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  // A plain object of another realm has a prototype of its own, which has none above it.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

const nameOf = (value: unknown): string =>
  typeof value === 'object' ? 'an instance of a class' : typeof value === 'number' ? String(value) : typeof value
