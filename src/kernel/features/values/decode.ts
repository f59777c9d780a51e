// Decodes items into JSON values. Every node that an item refers to has been read before; `Loaded` hands it out.

import type { Json } from '../../../model/data.ts'
import { ValuePart } from '../../../model/value-part.ts'
import { type Budget, ELEMENT_BYTES } from './budget.ts'
import { Malformed, Reader, textOf, wideText } from './bytes.ts'
import { KEY, KIND, REF_BYTES, TAG } from './format.ts'
import type { RefVisitor } from './items.ts'
import { skipItem, skipMember } from './items.ts'
import { words } from './words.ts'

/** Nodes and blobs that were read and checked. */
export interface Loaded {
  body(ref: Uint8Array): Uint8Array
  blob(digest: Uint8Array): Uint8Array
}

export class Decoder {
  readonly #loaded: Loaded
  readonly #budget: Budget
  readonly #lazy: boolean

  /** Lazily: lists and objects of more than one node, below the first, become parts. */
  constructor(loaded: Loaded, budget: Budget, lazy = false) {
    this.#loaded = loaded
    this.#budget = budget
    this.#lazy = lazy
  }

  /** The value of a node that an item may refer to. */
  node(body: Uint8Array): Json {
    const reader = new Reader(body, 1)
    const kind = body[0]
    this.#budget.spend(ELEMENT_BYTES)
    switch (kind) {
      case KIND.value:
        return this.item(reader)
      case KIND.string:
        return this.#text(body.subarray(1))
      case KIND.wide:
        return this.#wide(body.subarray(1))
      case KIND.bytes:
        return this.#packed(body.subarray(1))
      case KIND.list: {
        const items: Json[] = []
        this.#tree(body, (entry) => items.push(this.item(entry)))
        return items
      }
      case KIND.map: {
        const members: Record<string, Json> = {}
        this.#tree(body, (entry) => this.#member(entry, members))
        return members
      }
      default:
        throw new Malformed(`a node of kind ${kind} is no value`)
    }
  }

  item(reader: Reader): Json {
    this.#budget.spend(ELEMENT_BYTES)
    const tag = reader.u8()
    switch (tag) {
      case TAG.null:
        return null
      case TAG.false:
        return false
      case TAG.true:
        return true
      case TAG.integer: {
        const value = reader.varint()
        return value % 2 === 0 ? value / 2 : -(value + 1) / 2
      }
      case TAG.float:
        return reader.double()
      case TAG.string:
        return this.#text(reader.take(reader.varint()))
      case TAG.wide:
        return this.#wide(reader.take(reader.varint()))
      case TAG.bytes:
        return this.#packed(reader.take(reader.varint()))
      case TAG.word:
        return wordAt(reader.u8())
      case TAG.uuid:
        return uuidOf(reader.take(16))
      case TAG.array: {
        const items: Json[] = []
        for (let left = reader.varint(); left > 0; left--) items.push(this.item(reader))
        return items
      }
      case TAG.object: {
        const members: Record<string, Json> = {}
        for (let left = reader.varint(); left > 0; left--) this.#member(reader, members)
        return members
      }
      case TAG.ref:
      case TAG.leaf: {
        const ref = reader.take(REF_BYTES)
        const body = this.#loaded.body(ref)
        return this.#lazy && isTree(body) ? new ValuePart({ item: Uint8Array.of(TAG.ref, ...ref) }) : this.node(body)
      }
      case TAG.blobString:
      case TAG.blobWide:
      case TAG.blobBytes: {
        const bytes = this.#loaded.blob(reader.take(REF_BYTES))
        if (bytes.length !== reader.varint()) throw new Malformed('a blob has another length')
        return tag === TAG.blobString ? this.#text(bytes) : tag === TAG.blobWide ? this.#wide(bytes) : this.#packed(bytes)
      }
      default:
        throw new Malformed(`the item has the unknown tag ${tag}`)
    }
  }

  #member(reader: Reader, members: Record<string, Json>): void {
    const key = readKey(reader)
    this.#budget.spend(key.length)
    const value = this.item(reader)
    // Plain assignment of this key would set the prototype.
    if (key === '__proto__') Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true })
    else members[key] = value
  }

  /** Calls back for each entry below a root, a spine, a branch or a leaf, in order. */
  #tree(body: Uint8Array, each: (entry: Reader) => void): void {
    walkTree(body, {
      entry: (reader) => each(reader),
      below: (ref) => this.#tree(this.#loaded.body(ref), each),
    })
  }

  #text(bytes: Uint8Array): string {
    this.#budget.spend(bytes.length)
    return textOf(bytes)
  }

  #wide(bytes: Uint8Array): string {
    this.#budget.spend(bytes.length)
    return wideText(bytes)
  }

  #packed(bytes: Uint8Array): Json {
    this.#budget.spend(bytes.length * ELEMENT_BYTES)
    return Array.from(bytes)
  }
}

/** Whether a node is the root of a list or an object of several nodes. */
export const isTree = (body: Uint8Array): boolean => body[0] === KIND.list || body[0] === KIND.map

/** Walks over one node of a tree: first what is closed above, then its entries. `entry` must move the reader behind the entry. */
export function walkTree(
  body: Uint8Array,
  on: { readonly entry: (reader: Reader) => void; readonly below: (ref: Uint8Array, items: number) => void },
): void {
  const kind = body[0]
  const reader = new Reader(body, 1)
  if (kind === KIND.list || kind === KIND.map || kind === KIND.listSpine || kind === KIND.mapSpine) {
    const items = reader.varint()
    if (reader.u8() === 1) {
      const ref = reader.take(REF_BYTES)
      // The items above are those of the whole without those of the tail.
      on.below(ref, items - tailItems(body, reader.at))
    }
  }
  const holdsRefs = kind === KIND.listSpine || kind === KIND.mapSpine || kind === KIND.listBranch || kind === KIND.mapBranch
  if (!holdsRefs && kind !== KIND.list && kind !== KIND.map && kind !== KIND.listLeaf && kind !== KIND.mapLeaf)
    throw new Malformed(`a node of kind ${kind} is no part of a list or an object`)
  for (let left = reader.varint(); left > 0; left--) {
    if (!holdsRefs) on.entry(reader)
    else {
      const items = reader.varint()
      on.below(reader.take(REF_BYTES), items)
    }
  }
  if (!reader.isAtEnd) throw new Malformed('bytes follow the last entry')
}

function tailItems(body: Uint8Array, at: number): number {
  const reader = new Reader(body, at)
  const count = reader.varint()
  if (body[0] === KIND.list || body[0] === KIND.map) return count
  let items = 0
  for (let left = count; left > 0; left--) {
    items += reader.varint()
    reader.take(REF_BYTES)
  }
  return items
}

/** Tells the visitor of everything that a node refers to. */
export function visitRefs(body: Uint8Array, visitor: RefVisitor): void {
  switch (body[0]) {
    case KIND.string:
    case KIND.wide:
    case KIND.bytes:
      return
    case KIND.value:
      skipItem(new Reader(body, 1), visitor)
      return
    default: {
      const isMap = body[0] === KIND.map || body[0] === KIND.mapLeaf
      walkTree(body, {
        below: (ref) => visitor.node(ref),
        entry: (reader) => {
          if (isMap) skipMember(reader, visitor)
          else skipItem(reader, visitor)
        },
      })
    }
  }
}

export function readKey(reader: Reader): string {
  const header = reader.varint()
  const [form, length] = [header & 3, Math.floor(header / 4)]
  if (form === KEY.word) return wordAt(length)
  return form === KEY.wide ? wideText(reader.take(length)) : reader.text(length)
}

function wordAt(number: number): string {
  const word = words[number]
  if (word === undefined) throw new Malformed(`there is no word ${number}`)
  return word
}

function uuidOf(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}
