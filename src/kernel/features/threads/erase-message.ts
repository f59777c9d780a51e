// Erases a message: its payloads, and the values and blobs that nothing else refers to. Its id, its time and the salted digests of its events
// remain, so the chain still verifies.

import { InkError } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import type { MessageRow } from '../../../model/thread.ts'
import { parseValueRef } from '../../../model/value.ts'
import { checkReason, eraseSubject } from '../../proof/erase.ts'
import { happened } from '../../proof/rebuild.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyRow } from '../../reading/every-row.ts'
import { summaryOf } from '../../reading/message-text.ts'
import { scanJournal } from '../../reading/read-events.ts'
import { readSessionRow } from '../../session/session-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { foundNode, toNode } from '../graph/nodes.ts'
import { type Collected, collect } from '../values/collect.ts'
import { Marker } from '../values/mark.ts'
import { readContent, referencesOf } from './content.ts'
import { eraseSummaries } from './erase-summaries.ts'
import { messageRow, type ThreadPlace } from './list-messages.ts'
import { messageRowId } from './plan-messages.ts'
import type { AnyMessage } from './stored-message.ts'
import { messageOf } from './stored-rows.ts'

export interface EraseMessageOptions {
  readonly reason: string
  /** Stops the search for what the message holds; once the erasure has begun it is finished. */
  readonly signal?: AbortSignal
}

export interface EraseMessageReport {
  /** The number of payloads that were erased now. */
  readonly erased: number
  /** Nodes of values and blobs that were deleted, because nothing else refers to them. */
  readonly swept: Collected
  /** Nodes of values that stay, because something else refers to them. */
  readonly kept: { readonly nodes: number }
  /** Other messages that hold the same text. It stays there. */
  readonly heldBy: readonly { readonly session: SessionId; readonly thread: string; readonly message: string }[]
  /** Nodes of the message graph that hold the same text. It stays there. */
  readonly nodes: readonly { readonly session: SessionId; readonly node: string }[]
  /** False if another garbage collection came in between. `store.collect()` deletes the rest. */
  readonly complete: boolean
}

const NOTHING: Collected = { nodes: 0, blobs: 0, bytes: 0 }
const PAGE = 200

export async function eraseMessage(
  scope: Scope,
  place: ThreadPlace,
  id: string,
  options: EraseMessageOptions,
): Promise<EraseMessageReport> {
  checkOpen(scope.engine)
  const { reason: why, signal, ...unknown } = optionsOf(options, 'erase')
  checkKnown(unknown, 'an erasure')
  const reason = checkReason(why)
  stopIfAsked(scope, signal)
  const stored = await messageRow(scope, place, id)
  const row = messageOf(stored)
  const subject = stored.id as Id<'message'>
  const { references, summaries, texts } = await versionsOf(scope, subject, row, signal)
  const marker = await reachable(scope, [...references])
  stopIfAsked(scope, signal)
  // The message is erased last: a call after a crash finds the texts again.
  const told = await eraseSummaries(scope, place.session, { message: row.message, texts: summaries, reason })
  const erased = told + (await eraseSubject(scope, subject, reason))
  const held = texts.size === 0 ? { heldBy: [], nodes: [] } : await holders(scope, place.session, row, texts)
  const candidates = marker.keptBy.rows
  // The collection deletes the large text, and scrubs once more.
  await scope.engine.backend.upkeep.scrub()
  if (candidates === 0 && marker.blobs.size === 0) return { erased, swept: NOTHING, kept: { nodes: 0 }, ...held, complete: true }
  try {
    const { deleted } = await collect(scope, { grace: 0 }, { nodes: marker.nodes, blobs: marker.blobs })
    return { erased, swept: deleted, kept: { nodes: candidates - deleted.nodes }, ...held, complete: true }
  } catch (error) {
    if (!(error instanceof InkError) || error.code !== 'COLLECTION_REPLACED') throw error
    return { erased, swept: NOTHING, kept: { nodes: candidates }, ...held, complete: false }
  }
}

/** The values, blobs and texts of every version of the message, and its beginnings as lists show them. */
async function versionsOf(scope: Scope, subject: Id, row: MessageRow, signal: AbortSignal | undefined) {
  const references = new Set<string>()
  const summaries = new Set<string>()
  const texts = new Set<string>()
  const look = async ({ content }: Pick<MessageRow, 'content'>): Promise<void> => {
    if (!content) return
    for (const reference of referencesOf({ content })) references.add(reference)
    const message = await readContent(scope, content).catch(() => undefined)
    const text = summaryOf(message)?.text
    if (text) summaries.add(text)
    for (const one of message ? textsOf(message) : []) texts.add(one)
  }
  for await (const events of scanJournal(scope, scope.engine.backend.journal, Number.MAX_SAFE_INTEGER, { subject }))
    for (const e of events) {
      stopIfAsked(scope, signal)
      const { data } = happened(scope, e)
      if (data) await look(data as Pick<MessageRow, 'content'>)
    }
  await look(row)
  return { references, summaries, texts }
}

/** A version that was replaced may have been collected already. */
async function reachable(scope: Scope, references: readonly string[]): Promise<Marker> {
  const marker = new Marker(scope)
  for (const reference of references) {
    if (reference.startsWith('blob:')) marker.blobs.add(reference.slice('blob:'.length))
    else {
      const ref = parseValueRef(reference)
      const [body] = await scope.engine.backend.values.get(scope.tenant, [ref])
      if (body) await marker.from([ref], 'rows')
    }
  }
  return marker
}

const textsOf = ({ parts }: AnyMessage): readonly string[] =>
  parts.flatMap(({ text }) => (typeof text === 'string' && text !== '' ? [text] : []))

type Held = Pick<EraseMessageReport, 'heldBy' | 'nodes'>

/** Messages and nodes of this session, and their copies in its source and in forks, that hold one of the texts. */
async function holders(scope: Scope, session: SessionId, erased: MessageRow, wanted: ReadonlySet<string>): Promise<Held> {
  const found: MessageRow[] = []
  const holds = async (row: MessageRow): Promise<boolean> =>
    row.id !== erased.id && row.content !== undefined && textsOf(await readContent(scope, row.content)).some((text) => wanted.has(text))
  for await (const stored of everyRow(scope, 'messages', { index: 'byThread', equals: [session], limit: PAGE })) {
    const row = messageOf(stored)
    if (await holds(row)) found.push(row)
  }
  const nodes = await holdingNodes(scope, session, wanted)
  for (const relative of await relativesOf(scope, session)) {
    const copy = await scope.engine.backend.rows.get(scope.tenant, 'messages', messageRowId(scope, relative, erased.message))
    if (copy && (await holds(messageOf(copy)))) found.push(messageOf(copy))
    nodes.push(...(await holdingNodes(scope, relative, wanted)))
  }
  return { heldBy: found.map(({ session: where, thread, message }) => ({ session: where, thread, message })), nodes }
}

/** The session that this one was forked from, and so on up to the first, and all forks of these. */
async function relativesOf(scope: Scope, session: SessionId): Promise<readonly SessionId[]> {
  // A set grows while it is walked.
  const family = new Set([session])
  for (const id of family) {
    const { relation } = (await readSessionRow(scope, id)).body ?? {}
    if (relation?.kind === 'fork') family.add(relation.session)
  }
  for (const id of family)
    for await (const fork of everyRow(scope, 'sessions', { index: 'byParent', equals: [id], limit: PAGE })) family.add(fork.id as SessionId)
  return [...family].filter((id) => id !== session)
}

async function holdingNodes(
  scope: Scope,
  session: SessionId,
  wanted: ReadonlySet<string>,
): Promise<{ session: SessionId; node: string }[]> {
  const found: { session: SessionId; node: string }[] = []
  for await (const stored of everyRow(scope, 'graph_nodes', { index: 'bySession', equals: [session], limit: PAGE })) {
    const { row } = foundNode(stored)
    if (someText((await toNode(scope, row)).payload, (text) => wanted.has(text))) found.push({ session, node: row.node })
  }
  return found
}

const someText = (value: unknown, isWanted: (text: string) => boolean): boolean =>
  typeof value === 'string'
    ? isWanted(value)
    : typeof value === 'object' && value !== null && Object.values(value).some((member) => someText(member, isWanted))
