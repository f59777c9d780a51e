// Content of channels and writes, through the serializer of LangGraph. JSON is stored as a tree, so that equal parts are stored once; a type
// that is not JSON is stored as bytes.

import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'
import type { ValuePart } from '../../index.ts'
import type { Opaque } from './entries.ts'
import type { CheckpointStore } from './saver.ts'

export type Coded = { readonly json: unknown } | { readonly opaque: Opaque }

export class Codec {
  readonly #store: CheckpointStore
  readonly #serde: SerializerProtocol
  /** The built-in serializer writes a list as the list of what it writes for the elements. */
  readonly isBuiltIn: boolean

  constructor(store: CheckpointStore, serde: SerializerProtocol, isBuiltIn: boolean) {
    this.#store = store
    this.#serde = serde
    this.isBuiltIn = isBuiltIn
  }

  async encode(value: unknown): Promise<Coded> {
    const [type, bytes] = await this.#serde.dumpsTyped(value)
    if (type !== 'json') return this.#opaque(type, bytes)
    const text = new TextDecoder().decode(bytes)
    const json: unknown = JSON.parse(text)
    // A user's serializer may write JSON that would change on the way, such as integers beyond 2^53.
    if (!this.isBuiltIn && JSON.stringify(json) !== text) return this.#opaque(type, bytes)
    // A part forgets its content once it is stored, so entries in memory stay small.
    return { json: isObject(json) ? this.#store.values.part(json) : json }
  }

  #opaque(type: string, bytes: Uint8Array): Coded {
    return { opaque: [type, this.#store.values.part(Array.from(bytes))] }
  }

  /** The JSON of elements that are added to a list. */
  async encodeList(items: readonly unknown[]): Promise<readonly unknown[]> {
    const [, bytes] = await this.#serde.dumpsTyped(items)
    return JSON.parse(new TextDecoder().decode(bytes)) as readonly unknown[]
  }

  /** Makes a value of stored JSON, reading the parts in it first. */
  async decode(json: unknown): Promise<unknown> {
    if (this.isBuiltIn && !isObject(json)) return json
    const text = JSON.stringify(isObject(json) ? await this.#whole(json) : json)
    return this.#serde.loadsTyped('json', this.isBuiltIn ? text : new TextEncoder().encode(text))
  }

  async decodeOpaque([type, bytes]: Opaque): Promise<unknown> {
    const numbers = (await this.#whole(bytes)) as readonly number[]
    return this.#serde.loadsTyped(type, Uint8Array.from(numbers))
  }

  async #whole(json: object): Promise<unknown> {
    if (Array.isArray(json)) return Promise.all(json.map((item) => (isObject(item) ? this.#whole(item) : item)))
    if (isPart(json)) return this.#store.values.get(json)
    const members: (readonly [string, unknown])[] = []
    for (const [key, value] of Object.entries(json)) members.push([key, isObject(value) ? await this.#whole(value) : value])
    return Object.fromEntries(members)
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Stored JSON is plain, so an instance of a class is a part. */
export const isPart = (json: object): json is ValuePart => {
  const prototype = Object.getPrototypeOf(json)
  return prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null
}
