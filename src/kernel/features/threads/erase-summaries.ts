// Beginnings of messages stand in the head of their session, for lists, and in a title that was derived. They are erased with the message.

import type { SessionId } from '../../../model/ids.ts'
import { headId } from '../../naming/names.ts'
import { eraseSubject } from '../../proof/erase.ts'
import { happened } from '../../proof/rebuild.ts'
import { titleOf } from '../../reading/message-text.ts'
import { readSessionRow } from '../../session/session-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { part, plan } from '../../writing/execute.ts'
import { readHead } from '../graph/head.ts'
import { type HeadTexts, head } from '../graph/head-decider.ts'

const TEXTS = ['first', 'preview', 'intent'] as const

/**
 * Erases the texts that come from a message, and those that equal one of its beginnings. Texts of other messages stay in the head. Returns the
 * number of payloads that were erased.
 */
export async function eraseSummaries(
  scope: Scope,
  session: SessionId,
  { message, texts, reason }: { readonly message: string; readonly texts: ReadonlySet<string>; readonly reason: string },
): Promise<number> {
  const id = headId(scope, session)
  const { body: before } = await readHead(scope, session)
  const titles = new Set([...texts].map(titleOf))
  const isErased = (told: HeadTexts, name: (typeof TEXTS)[number]) => {
    const text = told[name]
    return text !== undefined && (texts.has(text) || told.of?.[name] === message)
  }
  const ofHead = await eraseSubject(scope, id, reason, (event) => {
    const told = event.type === 'head.described' ? (happened(scope, event).data as HeadTexts | undefined) : undefined
    if (!told || !TEXTS.some((name) => isErased(told, name))) return false
    if (told.first !== undefined && isErased(told, 'first')) titles.add(titleOf(told.first))
    return true
  })
  const ofSession = await eraseSubject(scope, session, reason, (event) => {
    const data = event.type === 'session.renamed' ? happened(scope, event).data : undefined
    return data?.source === 'derived' && titles.has(data.title as string)
  })
  if (ofSession > 0) await noteChanged(scope, session)
  if (before && ofHead > 0) {
    const others = Object.fromEntries(TEXTS.flatMap((name) => (isErased(before, name) ? [] : [[name, before[name]]])))
    await plan(scope, [part(head, id, { verb: 'describe', texts: { ...others, of: before.of } }, { session, whole: true })])
  }
  return ofHead + ofSession
}

/** The next write of this node is not refused because the session has changed. */
async function noteChanged(scope: Scope, session: SessionId): Promise<void> {
  const { body, revision } = await readSessionRow(scope, session)
  if (body) scope.engine.sessions.set(scope.tenant, session, { revision, state: body.state })
}
