// One collection in memory: the codes of its vectors, and the metadata that filters read. It is loaded from the rows and follows the journal, so it
// knows what any node has written.

import type { Json } from '../../../model/data.ts'
import type { EventRecord } from '../../../model/event.ts'
import { decodeFloats } from '../../../model/float32.ts'
import type { Id } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import type { Metadata } from '../../../model/vector.ts'
import type { Candidates, VectorMatrix } from '../../../ports/vector-matrix.ts'
import { Int8Matrix } from '../../../vectors/math/int8-matrix.ts'
import { quantiseRows, rowBytes } from '../../../vectors/math/quantise.ts'
import { decodePayload } from '../../reading/decode-event.ts'
import type { Matcher } from '../../reading/metadata-filter.ts'
import { TimeSlice } from '../../time/time-slice.ts'
import type { Scope } from '../../wiring/scope.ts'
import { ERASED } from '../../writing/decider.ts'
import { readRow } from '../../writing/execute.ts'
import { documentPages, isLive, type LiveVector } from './documents.ts'
import type { FoundCollection } from './find-collection.ts'
import type { Search } from './search.ts'

export interface Entry {
  readonly slot: number
  readonly id: Id<'vector'>
  readonly key: string
  readonly revision: number
  readonly metadata: Metadata | undefined
}

const TYPES = ['vector.put', 'vector.failed', 'vector.deleted', ERASED].map((text) => ({ text, prefix: false }))

/** Codes that are searched in this thread. More are searched in worker threads, if there are any. */
const HERE_CODES = 2 ** 18

export class VectorIndex {
  readonly #scope: Scope
  readonly #of: FoundCollection
  readonly #entries = new Map<string, Entry>()
  readonly #slots: (Entry | undefined)[] = []
  readonly #free: number[] = []
  #matrix: VectorMatrix
  #plain: Int8Matrix | undefined
  /** Everything up to this seq is in the index. */
  #seq = 0

  private constructor(scope: Scope, of: FoundCollection) {
    this.#scope = scope
    this.#of = of
    this.#plain = new Int8Matrix(of.dimensions)
    this.#matrix = this.#plain
  }

  /** Reads all documents. Returns undefined when `fits` says that there is no room for so many bytes. */
  static async load(scope: Scope, of: FoundCollection, fits: (bytes: number) => boolean): Promise<VectorIndex | undefined> {
    const index = new VectorIndex(scope, of)
    try {
      // Documents that change while the rows are read are changed again by the journal.
      index.#seq = (await scope.engine.backend.journal.head(scope.tenant)).seq
      const slice = new TimeSlice(scope.engine.environment)
      for await (const page of documentPages(scope, of.id)) {
        index.#putAll(page)
        if (!fits(index.bytes)) {
          index.close()
          return undefined
        }
        await slice.rest()
      }
      return index
    } catch (error) {
      index.close()
      throw error
    }
  }

  get count(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#slots.length * rowBytes(this.#of.dimensions)
  }

  entries(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** Reads what was written since. */
  async catchUp(): Promise<void> {
    const { backend } = this.#scope.engine
    for (let more = true; more; ) {
      const page = await backend.journal.page(this.#scope.tenant, {
        from: this.#seq,
        limit: limits.pageEvents,
        bytes: limits.pageBytes,
        types: TYPES,
      })
      await this.#follow(page.events)
      this.#seq = page.through
      more = page.more
    }
  }

  /** The documents that can be among the nearest. */
  async candidates({ query, top, matches }: Search): Promise<{ readonly entries: readonly Entry[]; readonly examined: number }> {
    const passing = matches && (await this.#passing(matches))
    const found: Candidates = await this.#matrix.candidates({ vector: query, metric: this.#of.metric, top, passing })
    return { entries: Array.from(found.slots, (slot) => this.#slots[slot] as Entry), examined: found.examined }
  }

  close(): void {
    this.#matrix.close()
  }

  async #passing(matches: Matcher): Promise<Uint8Array> {
    const slice = new TimeSlice(this.#scope.engine.environment)
    const passing = new Uint8Array(this.#slots.length)
    for (const [slot, entry] of this.#slots.entries()) {
      if (entry && matches(entry.metadata)) passing[slot] = 1
      if (slot % 512 === 0) await slice.rest()
    }
    return passing
  }

  /** Applies events to the index; the last event about a document counts. */
  async #follow(events: readonly EventRecord[]): Promise<void> {
    const last = new Map<Id, EventRecord>()
    for (const event of events) if (event.subject) last.set(event.subject, event)
    const put: (LiveVector & { readonly revision: number })[] = []
    for (const [subject, event] of last) {
      if (event.type === 'vector.put' && event.payload !== undefined) {
        const row = decodePayload(this.#scope.tenant, event.seq, event.payload) as Omit<LiveVector, 'id'>
        if (row.collection === this.#of.id) put.push({ ...row, id: subject as Id<'vector'>, revision: event.seq })
      } else if (event.type === 'vector.deleted' || event.type === 'vector.failed') this.#remove(subject)
      else if (event.type === 'vector.put' || this.#entries.has(subject)) {
        // An erased payload: the row says what is left.
        const { body, revision } = await readRow(this.#scope, 'vectors', subject)
        if (isLive(body) && body.collection === this.#of.id) put.push({ ...body, revision })
        else this.#remove(subject)
      }
    }
    this.#putAll(put)
  }

  #putAll(rows: readonly (LiveVector & { readonly revision: number })[]): void {
    if (rows.length === 0) return
    const slots: number[] = []
    const vectors: Float32Array[] = []
    for (const { id, key, vector, metadata, revision } of rows) {
      const slot = this.#entries.get(id)?.slot ?? this.#free.pop() ?? this.#slots.length
      const entry = { slot, id, key, revision, metadata: metadata as Readonly<Record<string, Json>> | undefined }
      this.#entries.set(id, entry)
      this.#slots[slot] = entry
      slots.push(slot)
      vectors.push(decodeFloats(vector))
    }
    this.#matrix.put(quantiseRows(slots, vectors, this.#of.dimensions))
    this.#moveOut()
  }

  #remove(id: Id): void {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#entries.delete(id)
    this.#slots[entry.slot] = undefined
    this.#free.push(entry.slot)
    this.#matrix.remove(Uint32Array.of(entry.slot))
  }

  /** A collection that has grown is searched in worker threads from then on. */
  #moveOut(): void {
    const { matrices } = this.#scope.engine.environment
    if (!matrices || !this.#plain || this.#slots.length * this.#of.dimensions <= HERE_CODES) return
    this.#matrix = matrices.create(this.#of.dimensions)
    this.#matrix.put(this.#plain.all())
    this.#plain = undefined
  }
}
