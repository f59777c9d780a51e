// Beginnings of messages stand in the head of their session, for lists, and in a title that was derived. They are erased with the message.

import type { EventRecord } from '../../model/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { eraseSubject } from '../erase.ts'
import { part, plan, readRow } from '../execute.ts'
import { type HeadTexts, head } from '../graph/head-decider.ts'
import { titleOf } from '../message-text.ts'
import { headId } from '../names.ts'
import { happened } from '../rebuild.ts'
import type { Scope } from '../scope.ts'

const TEXTS = ['first', 'preview', 'intent'] as const

/** Texts of other messages stay in the head. Returns the number of payloads that were erased. */
export async function eraseSummaries(scope: Scope, session: SessionId, texts: ReadonlySet<string>, reason: string): Promise<number> {
  if (texts.size === 0) return 0
  const titles = new Set([...texts].map(titleOf))
  const id = headId(scope, session)
  const { body: before } = await readRow(scope, 'session_heads', id)
  const dataOf = (event: EventRecord) => happened(scope, event).data as { readonly [member: string]: unknown } | undefined
  const holds = (event: EventRecord) => TEXTS.some((name) => texts.has(dataOf(event)?.[name] as string))
  const ofHead = before ? await eraseSubject(scope, id, reason, (event) => event.type === 'head.described' && holds(event)) : 0
  const ofSession = await eraseSubject(scope, session, reason, (event) => {
    const data = event.type === 'session.renamed' ? dataOf(event) : undefined
    return data?.source === 'derived' && titles.has(data.title as string)
  })
  if (ofSession > 0) await noteChanged(scope, session)
  if (ofHead > 0) {
    const others: HeadTexts = Object.fromEntries(
      TEXTS.flatMap((name) => {
        const text = before?.[name]
        return text === undefined || texts.has(text) ? [] : [[name, text]]
      }),
    )
    await plan(scope, [part(head, id, { verb: 'describe', texts: others }, { session, whole: true })])
  }
  return ofHead + ofSession
}

/** The next write of this node is not refused because the session has changed. */
async function noteChanged(scope: Scope, session: SessionId): Promise<void> {
  const { body, revision } = await readRow(scope, 'sessions', session)
  if (body) scope.engine.sessions.set(scope.tenant, session, { revision, state: body.state })
}
