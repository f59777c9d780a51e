// Encodes a JSON value into nodes, children before parents. The value was taken by `takeExact`, so it is plain and holds no cycle.

import type { Sha256 } from '../../../model/chain.ts'
import type { Json } from '../../../model/data.ts'
import type { ValueNode } from '../../../model/value.ts'
import { ValuePart } from '../../../model/value-part.ts'
import { type Budget, ELEMENT_BYTES } from './budget.ts'
import { Buffer, utf8Bytes, wideBytes } from './bytes.ts'
import { INLINE_BYTES, KEY, KIND, LEAF_BYTES, nodeOf, OBJECT_BYTES, PACKED_LEAST, TAG, UUID } from './format.ts'
import { LIST, MAP, TreeBuilder } from './tree.ts'
import { wordNumbers } from './words.ts'

export interface EncodedBlob {
  /** SHA-256 of the bytes. */
  readonly digest: Uint8Array
  readonly bytes: Uint8Array
}

/** Integers beyond this are stored as doubles, which hold them exactly too. */
const INTEGER_MOST = 2 ** 52

export class Encoder {
  readonly nodes: ValueNode[] = []
  readonly blobs: EncodedBlob[] = []
  readonly #sha256: Sha256
  readonly #budget: Budget
  readonly #parts: ReadonlyMap<ValuePart, Uint8Array>
  readonly #out = new Buffer()

  /** `parts` holds the items of parts that are encoded already. */
  constructor(sha256: Sha256, budget: Budget, parts: ReadonlyMap<ValuePart, Uint8Array>) {
    this.#sha256 = sha256
    this.#budget = budget
    this.#parts = parts
  }

  /** Encodes a whole value and returns the ref of its root. */
  root(value: Json): Uint8Array {
    this.#item(value)
    return this.#rootOf(this.#out.cut(0))
  }

  /** A builder that saves its nodes here, for an append. */
  list(): TreeBuilder {
    return new TreeBuilder(LIST, this.#save)
  }

  /** The bytes of one list entry. */
  entry(value: Json): Uint8Array {
    this.#item(value)
    return this.#out.cut(0)
  }

  /** A node that stands alone is its own root. Every other item becomes a node of kind `value`. */
  #rootOf(item: Uint8Array): Uint8Array {
    return item[0] === TAG.ref || item[0] === TAG.leaf ? item.slice(1) : this.#save(KIND.value, [item])
  }

  readonly #save = (kind: number, pieces: readonly Uint8Array[]): Uint8Array => {
    const node = nodeOf(this.#sha256, kind, pieces)
    this.nodes.push(node)
    return node.ref
  }

  #item(value: Json): void {
    const out = this.#out
    this.#budget.spend(ELEMENT_BYTES)
    switch (typeof value) {
      case 'string':
        this.#string(value)
        return
      case 'number':
        this.#number(value)
        return
      case 'boolean':
        out.u8(value ? TAG.true : TAG.false)
        return
      default:
        if (value === null) out.u8(TAG.null)
        else if (Array.isArray(value)) this.#array(value)
        else if (value instanceof ValuePart) out.bytes(this.#parts.get(value) as Uint8Array)
        else this.#object(value as { readonly [key: string]: Json })
    }
  }

  #number(value: number): void {
    if (Number.isInteger(value) && Math.abs(value) < INTEGER_MOST && !Object.is(value, -0)) {
      this.#out.u8(TAG.integer)
      this.#out.varint(value < 0 ? -2 * value - 1 : 2 * value)
    } else {
      this.#out.u8(TAG.float)
      this.#out.double(value)
    }
  }

  #string(text: string): void {
    const word = wordNumbers.get(text)
    if (word !== undefined) {
      this.#out.u8(TAG.word)
      this.#out.u8(word)
      return
    }
    if (text.length === 36 && UUID.test(text)) {
      this.#out.u8(TAG.uuid)
      for (const pair of text.replaceAll('-', '').match(/../g) as string[]) this.#out.u8(Number.parseInt(pair, 16))
      return
    }
    if (text.isWellFormed()) this.#raw(utf8Bytes(text), TAG.string, KIND.string, TAG.blobString)
    else this.#raw(wideBytes(text), TAG.wide, KIND.wide, TAG.blobWide)
  }

  /** Bytes inline, as a node of their own, or as a blob, by their length. */
  #raw(bytes: Uint8Array, inline: number, kind: number, blob: number): void {
    const out = this.#out
    this.#budget.spend(kind === KIND.bytes ? bytes.length * ELEMENT_BYTES : bytes.length)
    // The tag and the length of an inline item count too.
    if (bytes.length + (bytes.length < 0x80 ? 2 : 3) <= INLINE_BYTES) {
      out.u8(inline)
      out.varint(bytes.length)
      out.bytes(bytes)
    } else if (bytes.length <= LEAF_BYTES) {
      const ref = this.#save(kind, [bytes])
      out.u8(TAG.leaf)
      out.bytes(ref)
    } else {
      const digest = this.#sha256(bytes)
      this.blobs.push({ digest, bytes })
      out.u8(blob)
      out.bytes(digest)
      out.varint(bytes.length)
    }
  }

  #array(items: readonly Json[]): void {
    const packed = packedBytes(items)
    if (packed) {
      this.#raw(packed, TAG.bytes, KIND.bytes, TAG.blobBytes)
      return
    }
    const out = this.#out
    const start = out.at
    out.u8(TAG.array)
    out.varint(items.length)
    const ends: number[] = [out.at]
    let tree: TreeBuilder | undefined
    for (const item of items) {
      const from = out.at
      this.#item(item)
      if (tree) tree.add(out.cut(from))
      else {
        ends.push(out.at)
        if (out.at - start > INLINE_BYTES) tree = this.#overflow(LIST, start, ends)
      }
    }
    if (tree) this.#ref(tree.finish())
  }

  #object(members: { readonly [key: string]: Json }): void {
    const out = this.#out
    const keys = Object.keys(members)
    const start = out.at
    out.u8(TAG.object)
    out.varint(keys.length)
    const ends: number[] = [out.at]
    let tree: TreeBuilder | undefined
    for (const key of keys) {
      const from = out.at
      this.#key(key)
      this.#item(members[key] as Json)
      if (tree) tree.add(out.cut(from))
      else {
        ends.push(out.at)
        if (out.at - start > OBJECT_BYTES) tree = this.#overflow(MAP, start, ends)
      }
    }
    if (tree) this.#ref(tree.finish())
    else if (out.at - start > INLINE_BYTES) this.#ref(this.#save(KIND.value, [out.cut(start)]))
  }

  /** Moves the entries that were written inline into a tree. */
  #overflow(kinds: typeof LIST, start: number, ends: readonly number[]): TreeBuilder {
    const tree = new TreeBuilder(kinds, this.#save)
    const written = this.#out.cut(start)
    for (let i = 1; i < ends.length; i++) tree.add(written.subarray((ends[i - 1] as number) - start, (ends[i] as number) - start))
    return tree
  }

  #ref(ref: Uint8Array): void {
    this.#out.u8(TAG.ref)
    this.#out.bytes(ref)
  }

  #key(key: string): void {
    this.#budget.spend(key.length)
    const word = wordNumbers.get(key)
    if (word !== undefined) {
      this.#out.varint(4 * word + KEY.word)
      return
    }
    const [bytes, form] = key.isWellFormed() ? [utf8Bytes(key), KEY.utf8] : [wideBytes(key), KEY.wide]
    this.#out.varint(4 * bytes.length + form)
    this.#out.bytes(bytes)
  }
}

/** The bytes of a long array that holds nothing but integers from 0 to 255. */
function packedBytes(items: readonly Json[]): Uint8Array | undefined {
  if (items.length < PACKED_LEAST) return undefined
  const bytes = new Uint8Array(items.length)
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    if (typeof item !== 'number' || (item & 0xff) !== item || Object.is(item, -0)) return undefined
    bytes[i] = item
  }
  return bytes
}
