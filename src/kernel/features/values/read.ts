// Reads values. Nodes come in batches, level by level, and each is checked against its digest. A partial read loads only what it needs.

import { hex, sameBytes } from '../../../model/bytes.ts'
import type { Json } from '../../../model/data.ts'
import { InkError, refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { valueRef } from '../../../model/value.ts'
import { ValuePart } from '../../../model/value-part.ts'
import { getBlob } from '../../content/blobs.ts'
import type { Scope } from '../../wiring/scope.ts'
import { Budget, TooLarge } from './budget.ts'
import { Malformed, Reader } from './bytes.ts'
import { Decoder, isTree, type Loaded, readKey, visitRefs, walkTree } from './decode.ts'
import { KIND, REF_BYTES, refKey, refOf, TAG } from './format.ts'
import { skipItem } from './items.ts'
import { memoryOf } from './memory.ts'
import { Below, byteAt, clamped, expand, INDEX, isObject, memberOfItem, type Place } from './places.ts'

const FETCHED_AT_ONCE = 512

/** Reads one value. `root` names it in every refusal. */
export class ValueReader {
  readonly #scope: Scope
  readonly #root: Uint8Array
  /** The body of the root, once it is known. A root that is no node of its own has it from the start. */
  #body: Uint8Array | undefined

  constructor(scope: Scope, root: Uint8Array, body?: Uint8Array) {
    this.#scope = scope
    this.#root = root
    this.#body = body
  }

  /** Runs a read, and turns bytes that do not follow the format into a refusal. */
  static async of<T>(scope: Scope, root: Uint8Array, read: (reader: ValueReader) => Promise<T>, body?: Uint8Array): Promise<T> {
    try {
      return await read(new ValueReader(scope, root, body))
    } catch (error) {
      if (error instanceof Malformed) throw refuse('VALUE_DAMAGED', { ref: valueRef(root), why: error.message })
      if (error instanceof TooLarge) throw refuse('VALUE_TOO_LARGE', { limit: limits.valueBytes })
      throw error
    }
  }

  /** Reads a part of a value: a ref, or an item that stands inline. */
  static ofItem<T>(scope: Scope, item: Uint8Array, read: (reader: ValueReader) => Promise<T>): Promise<T> {
    if (item[0] === TAG.ref || item[0] === TAG.leaf) return ValueReader.of(scope, item.subarray(1), read)
    const body = Uint8Array.of(KIND.value, ...item)
    return ValueReader.of(scope, refOf(scope.engine.environment.digest.sha256, body), read, body)
  }

  /** Every read asks the store for the root, because only the store knows whether the tenant is still open. */
  async rootBody(): Promise<Uint8Array> {
    this.#body ??= (await this.#bodies([this.#root], () => undefined))[0] as Uint8Array
    return this.#body
  }

  /** The bodies of these nodes, checked. */
  fetch(refs: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    const { engine, tenant } = this.#scope
    return this.#bodies(refs, (ref) => memoryOf(engine).body(tenant, ref))
  }

  async #bodies(refs: readonly Uint8Array[], remembered: (ref: Uint8Array) => Uint8Array | undefined): Promise<readonly Uint8Array[]> {
    const { engine, tenant } = this.#scope
    const memory = memoryOf(engine)
    const bodies = refs.map(remembered)
    const missing = bodies.flatMap((body, i) => (body ? [] : [i]))
    for (let from = 0; from < missing.length; from += FETCHED_AT_ONCE) {
      const places = missing.slice(from, from + FETCHED_AT_ONCE)
      const found = await engine.backend.values.get(
        tenant,
        places.map((i) => refs[i] as Uint8Array),
      )
      for (const [k, place] of places.entries()) {
        const [ref, body] = [refs[place] as Uint8Array, found[k]]
        if (!body) throw await this.#missing(ref)
        if (!sameBytes(refOf(engine.environment.digest.sha256, body), ref))
          throw refuse('VALUE_DAMAGED', { ref: valueRef(this.#root), why: `node ${valueRef(ref)} has another digest` })
        memory.keep(tenant, ref, body)
        bodies[place] = body
      }
    }
    return bodies as Uint8Array[]
  }

  /** A collection may delete a value while it is read. Its root goes first, so below a root that is there nothing may be missing. */
  async #missing(ref: Uint8Array): Promise<InkError> {
    const { engine, tenant } = this.#scope
    const [root] = sameBytes(ref, this.#root) ? [] : await engine.backend.values.get(tenant, [this.#root])
    return root
      ? refuse('VALUE_DAMAGED', { ref: valueRef(this.#root), why: `node ${valueRef(ref)} is missing` })
      : refuse('VALUE_MISSING', { ref: valueRef(this.#root), tenant })
  }

  async whole(lazy = false): Promise<Json> {
    return this.#decode({ body: await this.rootBody() }, lazy)
  }

  /** A list or object that fills more than one node becomes a part; everything else is read. */
  async part(): Promise<Json> {
    const body = await this.rootBody()
    return isTree(body) ? new ValuePart({ item: await this.asItem() }) : this.#decode({ body }, true)
  }

  /** The item that stands for this value inside another one. */
  async asItem(): Promise<Uint8Array> {
    const body = await this.rootBody()
    return body[0] === KIND.value ? body.slice(1) : Uint8Array.of(isTree(body) ? TAG.ref : TAG.leaf, ...this.#root)
  }

  /** The value at the end of a path of keys and indexes, or undefined. */
  async at(path: readonly string[], lazy = false): Promise<Json | undefined> {
    let place: Place | undefined = { body: await this.rootBody() }
    for (const step of path) {
      place = await this.#step(place, step)
      if (!place) return undefined
    }
    return this.#decode(place, lazy)
  }

  /** The member of an object, or undefined. */
  async member(key: string): Promise<Json | undefined> {
    const place = await this.#resolve({ body: await this.rootBody() })
    if (!isObject(place)) return undefined
    const found = await this.#step(place, key)
    return found && this.#decode(found)
  }

  /** The items of a list from one index to another, counted from the end where they are negative. */
  async slice(from: number, to: number, lazy = false): Promise<readonly Json[]> {
    const place = await this.#resolve({ body: await this.rootBody() })
    if ('body' in place && place.body[0] === KIND.list) {
      const total = new Reader(place.body, 1).varint()
      const [first, end] = [clamped(from, total), clamped(to, total)]
      if (first >= end) return []
      return this.#decodeItems(await this.#range(place.body, first, end), lazy)
    }
    const value = await this.#decode(place, lazy)
    if (!Array.isArray(value)) throw refuse('VALUE_NOT_A_LIST', { ref: valueRef(this.#root) })
    return value.slice(from, to)
  }

  /** Follows refs until the place is a node of several, or an item that is not a ref. */
  async #resolve(place: Place): Promise<Place> {
    let found = place
    for (;;) {
      if ('body' in found) {
        if (found.body[0] !== KIND.value) return found
        found = { item: found.body.subarray(1) }
      }
      if (found.item[0] !== TAG.ref && found.item[0] !== TAG.leaf) return found
      found = { body: (await this.fetch([found.item.subarray(1, 1 + REF_BYTES)]))[0] as Uint8Array }
    }
  }

  async #step(from: Place, step: string): Promise<Place | undefined> {
    const place = await this.#resolve(from)
    if (isObject(place)) return 'body' in place ? this.#memberOfTree(place.body, step) : memberOfItem(place.item, step)
    const index = INDEX.test(step) ? Number(step) : undefined
    if (index === undefined) return undefined
    if ('body' in place) {
      if (place.body[0] === KIND.list) return (await this.#range(place.body, index, index + 1)).map((item) => ({ item }))[0]
      if (place.body[0] === KIND.bytes) return byteAt(place.body.subarray(1), index)
      return undefined
    }
    return this.#elementOfItem(place.item, index)
  }

  async #elementOfItem(item: Uint8Array, index: number): Promise<Place | undefined> {
    const reader = new Reader(item)
    const tag = reader.u8()
    if (tag === TAG.bytes) return byteAt(reader.take(reader.varint()), index)
    if (tag === TAG.blobBytes) return byteAt(await this.#blob(reader.take(REF_BYTES)), index)
    if (tag !== TAG.array || index >= reader.varint()) return undefined
    for (let left = index; left > 0; left--) skipItem(reader)
    return { item: item.subarray(reader.at) }
  }

  /** The bytes of the items of a list tree in a range, in order. */
  async #range(root: Uint8Array, from: number, to: number): Promise<readonly Uint8Array[]> {
    let parts = expand(root, from, to)
    for (;;) {
      const open = parts.filter((part) => part instanceof Below)
      if (open.length === 0) return parts as readonly Uint8Array[]
      const bodies = await this.fetch(open.map(({ ref }) => ref))
      const byPart = new Map(open.map((part, i) => [part, bodies[i] as Uint8Array]))
      parts = parts.flatMap((part) => (part instanceof Below ? expand(byPart.get(part) as Uint8Array, part.from, part.to) : [part]))
    }
  }

  async #memberOfTree(root: Uint8Array, key: string): Promise<Place | undefined> {
    let bodies: readonly Uint8Array[] = [root]
    while (bodies.length > 0) {
      const below: Uint8Array[] = []
      for (const body of bodies) {
        let found: Place | undefined
        walkTree(body, {
          below: (ref) => void below.push(ref),
          entry: (reader) => {
            const isIt = readKey(reader) === key
            const from = reader.at
            skipItem(reader)
            if (isIt) found = { item: body.subarray(from, reader.at) }
          },
        })
        if (found) return found
      }
      bodies = await this.fetch(below)
    }
    return undefined
  }

  /** Lazily: a list or object below that fills more than one node is left as a part. */
  async #decode(place: Place, lazy = false): Promise<Json> {
    const loaded = await this.#load(
      (visitor) => ('body' in place ? visitRefs(place.body, visitor) : void skipItem(new Reader(place.item), visitor)),
      lazy,
    )
    const decoder = new Decoder(loaded, readBudget(), lazy)
    return 'body' in place ? decoder.node(place.body) : decoder.item(new Reader(place.item))
  }

  async #decodeItems(items: readonly Uint8Array[], lazy: boolean): Promise<readonly Json[]> {
    const loaded = await this.#load((visitor) => {
      for (const item of items) skipItem(new Reader(item), visitor)
    }, lazy)
    const decoder = new Decoder(loaded, readBudget(), lazy)
    return items.map((item) => decoder.item(new Reader(item)))
  }

  /** Reads everything below some bytes, level by level. */
  async #load(visit: (visitor: Parameters<typeof visitRefs>[1]) => void, lazy: boolean): Promise<Loaded> {
    const bodies = new Map<string, Uint8Array | undefined>()
    const blobs = new Map<string, Uint8Array>()
    let [wanted, digests]: [Uint8Array[], Uint8Array[]] = [[], []]
    const note = (ref: Uint8Array): void => {
      const key = refKey(ref)
      if (bodies.has(key)) return
      bodies.set(key, undefined)
      wanted.push(ref)
    }
    const visitor = { node: note, leaf: note, blob: (digest: Uint8Array) => void digests.push(digest) }
    visit(visitor)
    while (wanted.length > 0) {
      const level = wanted
      wanted = []
      for (const [i, body] of (await this.fetch(level)).entries()) {
        bodies.set(refKey(level[i] as Uint8Array), body)
        if (!lazy || !isTree(body)) visitRefs(body, visitor)
      }
    }
    for (const digest of digests) if (!blobs.has(hex(digest))) blobs.set(hex(digest), await this.#blob(digest))
    return {
      body: (ref) => bodies.get(refKey(ref)) as Uint8Array,
      blob: (digest) => blobs.get(hex(digest)) as Uint8Array,
    }
  }

  async #blob(digest: Uint8Array): Promise<Uint8Array> {
    try {
      return await getBlob(this.#scope, hex(digest))
    } catch (error) {
      if (!(error instanceof InkError) || error.kind === 'unavailable') throw error
      throw refuse('VALUE_DAMAGED', { ref: valueRef(this.#root), why: error.message }, error)
    }
  }
}

/** A node costs a little more when it is read than when it was written. A value that was accepted can always be read. */
const readBudget = (): Budget => new Budget(2 * limits.valueBytes)
