// Documents of one collection: put in small commits, read by id, deleted by id or filter.

import { refuse } from '../../../model/errors.ts'
import { encodeFloats } from '../../../model/float32.ts'
import type { Id } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { EmbedderMark, VectorRow } from '../../../model/vector.ts'
import type { Guard } from '../../../ports/commit.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyPage } from '../../reading/every-row.ts'
import type { Matcher } from '../../reading/metadata-filter.ts'
import type { Scope } from '../../wiring/scope.ts'
import { checkSize } from '../../writing/draft.ts'
import { part, plan, readRow } from '../../writing/execute.ts'
import { collection } from './collection-decider.ts'
import type { FoundCollection } from './find-collection.ts'
import type { TakenDocument } from './take-document.ts'
import { type PutDocument, vector } from './vector-decider.ts'

export const SCAN_PAGE = 500

/** A row whose payload was not erased. */
export type LiveVector = VectorRow & Required<Pick<VectorRow, 'collection' | 'key' | 'vector'>>

export const isLive = (row: VectorRow | undefined): row is LiveVector => row?.vector !== undefined && row.key !== undefined

/** The id of a document follows from its collection and its key, so that every node finds it without an index. */
export const vectorId = (scope: Pick<Scope, 'engine'>, of: Id<'collection'>, key: string): Id<'vector'> =>
  derivedId(scope, `vector/${of}/${key}`)

/** A collection that was dropped meanwhile takes no documents. */
const stillThere = ({ id, revision }: FoundCollection): Guard => ({ kind: 'row', table: 'vector_collections', id, revision })

/** All ids have this length. */
const ANY_ID = '0'.repeat(26)

/** A document as it is written, but for its collection. */
export type ReadyDocument = Omit<PutDocument, 'collection'>

/** Encodes documents, and checks that each fits into an event. Of several with the same id, the last one counts. */
export function readyDocuments(
  scope: Scope,
  documents: readonly (TakenDocument & { readonly vector: Float32Array; readonly embedder?: EmbedderMark })[],
): readonly ReadyDocument[] {
  const last = new Map(documents.map((document) => [document.key, document]))
  return [...last.values()].map(({ vector: floats, ...rest }) => {
    const document = { ...rest, vector: encodeFloats(floats) }
    checkSize(scope, { ...document, collection: ANY_ID })
    return document
  })
}

export async function putDocuments(
  scope: Scope,
  into: FoundCollection,
  documents: readonly ReadyDocument[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const group of together(documents.map((document) => ({ ...document, collection: into.id })))) {
    stopIfAsked(scope, signal)
    const parts = group.map((document) => part(vector, vectorId(scope, into.id, document.key), { verb: 'put', document }, { whole: true }))
    await plan(scope, parts, { guards: [stillThere(into)] })
  }
}

const GROUP_CHARS = 512 * 1024

/** Splits documents into commits that leave room for other writers. */
function* together(documents: readonly PutDocument[]): Generator<readonly PutDocument[]> {
  let group: PutDocument[] = []
  let chars = 0
  for (const document of documents) {
    const size = document.vector.length + (document.content?.length ?? 0)
    if (group.length > 0 && (group.length === limits.vectorsAtOnce || chars + size > GROUP_CHARS)) {
      yield group
      group = []
      chars = 0
    }
    group.push(document)
    chars += size
  }
  if (group.length > 0) yield group
}

export async function readDocument(scope: Scope, { id }: FoundCollection, key: string): Promise<LiveVector | undefined> {
  const { body } = await readRow(scope, 'vectors', vectorId(scope, id, key))
  return isLive(body) ? body : undefined
}

/** Every page of a collection's documents, in the order of their row ids. */
export async function* documentPages(
  scope: Scope,
  of: Id<'collection'>,
): AsyncGenerator<readonly (LiveVector & { readonly revision: number })[], void, undefined> {
  for await (const rows of everyPage(scope, 'vectors', { index: 'byCollection', equals: [of], limit: SCAN_PAGE })) yield rows.flatMap(live)
}

function live(stored: TableRow<'vectors'>): (LiveVector & { readonly revision: number })[] {
  const row = decodeBody(stored.body, stored)
  return isLive(row) ? [{ ...row, revision: stored.revision }] : []
}

/** Deletes documents by key. Returns how many there were. */
export async function deleteKeys(
  scope: Scope,
  { id }: FoundCollection,
  keys: readonly string[],
  signal: AbortSignal | undefined,
): Promise<number> {
  return deleteRows(
    scope,
    [...new Set(keys)].map((key) => vectorId(scope, id, key)),
    signal,
  )
}

/** Deletes the documents that match. Those that come in meanwhile may stay. */
export async function deleteMatching(
  scope: Scope,
  { id }: FoundCollection,
  matches: Matcher,
  signal: AbortSignal | undefined,
): Promise<number> {
  let deleted = 0
  for await (const page of documentPages(scope, id)) {
    deleted += await deleteRows(
      scope,
      page.filter(({ metadata }) => matches(metadata)).map((row) => row.id),
      signal,
    )
  }
  return deleted
}

async function deleteRows(scope: Scope, ids: readonly Id<'vector'>[], signal?: AbortSignal): Promise<number> {
  let deleted = 0
  for (let at = 0; at < ids.length; at += limits.vectorsAtOnce) {
    stopIfAsked(scope, signal)
    const group = ids.slice(at, at + limits.vectorsAtOnce)
    const { receipts } = await plan(
      scope,
      group.map((id) => part(vector, id, { verb: 'delete' })),
    )
    deleted += receipts.length
  }
  return deleted
}

/** Deletes the documents of a dropped collection, then its row. After a crash, maintenance calls it again. */
export async function clearCollection(scope: Scope, id: Id<'collection'>): Promise<void> {
  for await (const rows of everyPage(scope, 'vectors', { index: 'byCollection', equals: [id], limit: SCAN_PAGE })) {
    await deleteRows(
      scope,
      rows.map((row) => row.id as Id<'vector'>),
    )
  }
  await plan(scope, [part(collection, id, { verb: 'clear' })])
}

export const checkCount = (documents: readonly unknown[]): void => {
  if (documents.length > limits.vectorUpsert)
    throw refuse('COMMIT_TOO_LARGE', { limit: limits.vectorUpsert, unit: 'documents', found: documents.length })
}
