// `store.values`: JSON goes in and a ref comes out. Equal content is stored once, and a changed value costs only what is new.

import { type Json, parseExact, takeExact } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { parseValueRef, valueRef } from '../../../model/value.ts'
import { ValuePart } from '../../../model/value-part.ts'
import { WriteTime } from '../../measuring/write-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { refusalOf } from '../../writing/commit-outcome.ts'
import { telling } from '../../writing/draft.ts'
import { conflictOrGone, retryConflicts } from '../../writing/retry-conflicts.ts'
import { TooLarge } from './budget.ts'
import { memoryOf } from './memory.ts'
import { partsIn } from './parts.ts'
import { ValueReader } from './read.ts'
import { type StagedValue, split, stage } from './stage.ts'

export interface ValueOptions {
  /** Masks secrets first. By default a value is stored exactly. */
  readonly redact?: boolean
}

export interface StoreValues {
  /**
   * Stores a JSON value exactly, in its own key order, and returns its ref: `value:` and 43 characters. Equal values have equal refs. A value
   * that no event, row or pin refers to is garbage after a day; see `collect`.
   */
  put(value: unknown, options?: ValueOptions): Promise<string>
  /** Stores the value of a JSON text. Duplicate keys, and integers that JavaScript would round, are refused. */
  putText(text: string, options?: ValueOptions): Promise<string>
  /** Reads a value, or the part of it that a JSON Pointer names. A path that is not there gives undefined. */
  get<T = unknown>(ref: string | ValuePart, pointer?: string, options?: ReadValueOptions): Promise<T | undefined>
  /** Reads items of a list, as `Array.prototype.slice` would, without loading the others. */
  slice<T = unknown>(ref: string | ValuePart, from: number, to?: number, options?: ReadValueOptions): Promise<readonly T[]>
  /** Reads one member of an object without loading the others. */
  field<T = unknown>(ref: string, key: string): Promise<T | undefined>
  /** Adds items to the end of a list. Returns the ref that `put` of the whole list would return. */
  append(ref: string, items: readonly unknown[], options?: ValueOptions): Promise<string>
  /**
   * Makes a part: a list or an object that is stored with the value it stands in. Afterwards it can stand in other values, where it costs one
   * ref. With `after`, its items follow those of another list, which is not read whole.
   */
  part(content: readonly unknown[] | object, options?: PartOptions): ValuePart
}

export interface PartOptions {
  readonly after?: ValuePart
}

export interface ReadValueOptions {
  /** Leaves lists and objects of more than one node as parts, for `get` and `slice` to read later. */
  readonly lazy?: boolean
}

/** Gets the scope when it is used, because a view has its scope only after it is made. */
export const storeValues = (scope: Scope): StoreValues => ({
  put: async (value, options) => {
    const time = new WriteTime(scope.engine.environment.clock)
    const taken = takeValue(scope, value, options, 'values.put')
    time.masked()
    return putValue(scope, taken, time)
  },
  putText: async (text, options) => {
    if (typeof text !== 'string') throw invalidOption('text', 'a JSON text', text)
    return putValue(scope, masked(scope, parseExact(text), options, 'values.putText'))
  },
  get: async <T>(given: string | ValuePart, pointer?: string, options?: ReadValueOptions) => {
    const path = parsePointer(pointer)
    const lazy = lazyOf(options)
    return reading(scope, given, (reader) => (path.length === 0 ? reader.whole(lazy) : reader.at(path, lazy))) as Promise<T>
  },
  slice: async <T>(given: string | ValuePart, from: number, to = Infinity, options?: ReadValueOptions) => {
    for (const [name, index] of Object.entries({ from, to }))
      if (!Number.isInteger(index) && index !== Infinity) throw invalidOption(name, 'a whole number', index)
    const lazy = lazyOf(options)
    return reading(scope, given, (reader) => reader.slice(from, to, lazy)) as Promise<readonly T[]>
  },
  field: async <T>(given: string, key: string) => {
    if (typeof key !== 'string') throw invalidOption('key', 'a string', key)
    return reading(scope, given, (reader) => reader.member(key)) as Promise<T>
  },
  append: async (given, items, options) => {
    if (!Array.isArray(items)) throw invalidOption('items', 'an array', items)
    return appendItems(scope, given, takeValue(scope, items, options, 'values.append') as readonly Json[])
  },
  part: (content, options) => {
    const { after, ...unknown } = optionsOf(options, 'values.part')
    checkKnown(unknown, 'values.part')
    if (after !== undefined && !(after instanceof ValuePart)) throw invalidOption('after', 'a part of a value', after)
    const taken = telling(scope, () => takeExact(content))
    if (taken === null || typeof taken !== 'object' || (after && !Array.isArray(taken)))
      throw invalidOption('content', after ? 'an array' : 'an array or an object', content)
    return taken instanceof ValuePart ? taken : new ValuePart({ content: taken, after })
  },
})

export function lazyOf(options: ReadValueOptions | undefined): boolean {
  const { lazy = false, ...unknown } = optionsOf(options, 'values.get')
  checkKnown(unknown, 'reading a value')
  if (typeof lazy !== 'boolean') throw invalidOption('lazy', 'true or false', lazy)
  return lazy
}

/** Reads a whole value. */
export const readValue = (scope: Scope, ref: string): Promise<Json> => reading(scope, ref, (reader) => reader.whole())

/** Reads a value unless it is a list or an object of several nodes, which becomes a part. */
export const readPart = (scope: Scope, ref: string): Promise<Json> => reading(scope, ref, (reader) => reader.part())

function reading<T>(scope: Scope, given: string | ValuePart, read: (reader: ValueReader) => Promise<T>): Promise<T> {
  checkOpen(scope.engine)
  if (given instanceof ValuePart) {
    const state = ValuePart.stateOf(given)
    if (!('item' in state)) throw invalidOption('ref', 'a part that is stored', 'a part that no value was put with')
    return ValueReader.ofItem(scope, state.item, read)
  }
  return ValueReader.of(scope, parseValueRef(given), read)
}

const takeValue = (scope: Scope, value: unknown, options: ValueOptions | undefined, call: string): Json =>
  masked(
    scope,
    telling(scope, () => takeExact(value)),
    options,
    call,
  )

function masked({ engine }: Scope, value: Json, options: ValueOptions | undefined, call: string): Json {
  const { redact = false, ...unknown } = optionsOf(options, call)
  checkKnown(unknown, 'a value')
  if (typeof redact !== 'boolean') throw invalidOption('redact', 'true or false', redact)
  if (redact && partsIn(value).length > 0) throw invalidOption('redact', 'false where parts stand, because they are stored already', redact)
  return redact && engine.redactor ? (engine.redactor.value(value) as Json) : value
}

/** Encoding and hashing count as part of the write. */
export async function putValue(scope: Scope, value: Json, time = new WriteTime(scope.engine.environment.clock)): Promise<string> {
  const { ref } = await sized(() => writing(scope, (known) => stage(scope, value, known), time))
  return valueRef(ref)
}

async function appendItems(scope: Scope, given: string, items: readonly Json[]): Promise<string> {
  const after = await reading(scope, given, async (reader) => {
    // Anything but a list is refused here.
    if (items.length === 0) await reader.slice(0, 0)
    return new ValuePart({ item: await reader.asItem() })
  })
  return items.length === 0 ? given : putValue(scope, new ValuePart({ content: items, after }))
}

/** Commits a staged value. If a node that this process remembered, or a blob that was just put, is gone, everything is sent again. */
async function writing(scope: Scope, prepare: (known: boolean) => Promise<StagedValue>, time: WriteTime): Promise<StagedValue> {
  checkOpen(scope.engine)
  return retryConflicts(scope, conflictOrGone(), async (attempt) => {
    const known = attempt === 1
    if (!known) memoryOf(scope.engine).clear()
    time.waited()
    const staged = await prepare(known)
    time.hashed()
    await commitNodes(scope, staged, time)
    staged.settle?.()
    return staged
  })
}

async function commitNodes(scope: Scope, staged: StagedValue, time: WriteTime): Promise<void> {
  const { engine, tenant } = scope
  for (const { nodes, guards } of split(staged)) {
    const outcome = await engine.lane.submit({ tenant, guards, events: [], changes: [], nodes }, time)
    if (!outcome.ok) throw refusalOf(scope, outcome)
    const memory = memoryOf(engine)
    for (const { ref } of nodes) memory.learn(tenant, ref)
  }
}

/** Turns the internal error of a value beyond its limit into a refusal. */
export async function sized<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TooLarge) throw refuse('VALUE_TOO_LARGE', { limit: limits.valueBytes })
    throw error
  }
}

/** The steps of a JSON Pointer (RFC 6901). */
function parsePointer(pointer: string | undefined): readonly string[] {
  if (pointer === undefined || pointer === '') return []
  if (typeof pointer !== 'string' || !pointer.startsWith('/') || /~(?![01])/.test(pointer))
    throw invalidOption('pointer', 'a JSON Pointer such as /messages/3', pointer)
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
