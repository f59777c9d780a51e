// Marks every node and blob that can be reached from the roots of a garbage collection. A root that cannot be read ends the collection.

import { hex, sameBytes } from '../../../model/bytes.ts'
import { refuse } from '../../../model/errors.ts'
import { decodeBody } from '../../../model/rows.ts'
import { tableNames, tableOf } from '../../../model/tables.ts'
import { isValueRef, parseValueRef, valueRef } from '../../../model/value.ts'
import { blobDigestOf, blobsIn } from '../../content/references.ts'
import { everyRow } from '../../reading/every-row.ts'
import { TimeSlice } from '../../time/time-slice.ts'
import type { Scope } from '../../wiring/scope.ts'
import { visitRefs } from './decode.ts'
import { refOf } from './format.ts'
import { PrefixSet } from './prefix-set.ts'

/** The reason why a node or a blob is kept. */
export type Keeper = 'events' | 'rows' | 'recent'

const PAGE = 512
// In a text within the row, the quotes around it are escaped.
const REF_IN_TEXT = /value:[A-Za-z0-9_-]{43}/g

export class Marker {
  readonly nodes = new PrefixSet()
  /** Digests in hex, and texts in values that may be one. */
  readonly blobs = new Set<string>()
  /** Nodes by what kept them first. */
  readonly keptBy: Record<Keeper, number> = { events: 0, rows: 0, recent: 0 }
  readonly #scope: Scope
  readonly #slice: TimeSlice

  constructor(scope: Scope) {
    this.#scope = scope
    this.#slice = new TimeSlice(scope.engine.environment)
  }

  /** Marks from the references of events. */
  async events(): Promise<void> {
    const { engine, tenant } = this.#scope
    for (let after: { seq: number; ref: string } | undefined; ; ) {
      const page = await engine.backend.values.references(tenant, after, PAGE)
      await this.#references(
        page.map(({ ref }) => ref),
        'events',
      )
      if (page.length < PAGE) return
      after = page.at(-1)
    }
  }

  /** Marks from the rows of all features that refer to values and blobs. */
  async rows(): Promise<void> {
    for (const { table, refs } of this.#scope.engine.features.referring) {
      const [index = ''] = Object.keys(tableOf(table).indexes)
      for await (const row of everyRow(this.#scope, table, { index, equals: [], limit: PAGE }))
        await this.#references(refs(decodeBody(row.body, { table, id: row.id }) as never), 'rows')
    }
    await this.#blobsOfRows()
  }

  /**
   * Marks the blobs that rows of any table refer to: payloads and results that were too large for their event. Marks the values, too, that the
   * data of callers in them refers to.
   */
  async #blobsOfRows(): Promise<void> {
    const { engine, tenant } = this.#scope
    const snapshot = await engine.backend.upkeep.snapshot(tenant)
    try {
      for (const table of tableNames)
        for (let after: string | undefined; ; ) {
          const page = await snapshot.rows(table, after, PAGE)
          for (const { body } of page) for (const reference of blobsIn(body)) this.blobs.add(blobDigestOf(reference) as string)
          await this.#namedValues(page.flatMap(({ body }) => body.match(REF_IN_TEXT) ?? []))
          await this.#slice.rest()
          if (page.length < PAGE) break
          after = page.at(-1)?.id
        }
    } finally {
      await snapshot.close()
    }
  }

  /** A fork repeats data whose value may be gone, so a ref without a node is no root. */
  async #namedValues(texts: readonly string[]): Promise<void> {
    const { engine, tenant } = this.#scope
    const refs = [...new Set(texts)].filter(isValueRef).map(parseValueRef)
    for (let at = 0; at < refs.length; at += PAGE) {
      const few = refs.slice(at, at + PAGE)
      const bodies = await engine.backend.values.get(tenant, few)
      await this.from(
        few.filter((_, i) => bodies[i]),
        'rows',
      )
    }
  }

  async #references(references: readonly string[], by: Keeper): Promise<void> {
    for (const reference of references) {
      const digest = blobDigestOf(reference)
      if (digest !== undefined) this.blobs.add(digest)
    }
    await this.from(
      references.flatMap((reference) => (blobDigestOf(reference) === undefined ? [parseValueRef(reference)] : [])),
      by,
    )
  }

  /** Marks these nodes and everything below them. */
  async from(refs: readonly Uint8Array[], by: Keeper): Promise<void> {
    let open: Uint8Array[] = []
    const note = (ref: Uint8Array): boolean => {
      if (!this.nodes.add(ref)) return false
      this.keptBy[by]++
      return true
    }
    const visitor = {
      node: (ref: Uint8Array) => void (note(ref) && open.push(ref.slice())),
      leaf: (ref: Uint8Array) => void note(ref),
      blob: (digest: Uint8Array) => void this.blobs.add(hex(digest)),
      digest: (text: Uint8Array) => void this.blobs.add(String.fromCharCode(...text)),
    }
    for (const ref of refs) visitor.node(ref)
    while (open.length > 0) {
      const level = open
      open = []
      for (let at = 0; at < level.length; at += PAGE) {
        for (const body of await this.#read(level.slice(at, at + PAGE))) visitRefs(body, visitor)
        await this.#slice.rest()
      }
    }
  }

  async #read(refs: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    const { engine, tenant } = this.#scope
    const bodies = await engine.backend.values.get(tenant, refs)
    return refs.map((ref, i) => {
      const body = bodies[i]
      if (!body || !sameBytes(refOf(engine.environment.digest.sha256, body), ref))
        throw refuse('VALUE_DAMAGED', { ref: valueRef(ref), why: body ? 'its node has another digest' : 'its node is missing' })
      return body
    })
  }
}
