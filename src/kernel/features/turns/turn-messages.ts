// The messages of a turn: parts of its commit that add them to the default thread of the session.

import type { HeadRow } from '../../../model/graph.ts'
import type { SessionId } from '../../../model/ids.ts'
import { type MessageSummary, summaryOf } from '../../reading/message-text.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Part, readStored } from '../../writing/part.ts'
import type { HeadMove } from '../graph/head-decider.ts'
import { type MessagesShare, planMessages } from '../threads/plan-messages.ts'
import type { TakenTurn } from './turn-options.ts'

export interface TurnMessages extends MessagesShare {
  readonly said: readonly (MessageSummary & { readonly id: string })[]
  /** The number of those that are new. */
  readonly added: number
  /** The first message of the user. */
  readonly first: string | undefined
}

export async function turnMessages(scope: Scope, session: SessionId, { messages, redact }: TakenTurn): Promise<TurnMessages> {
  // A turn reads its thread: what this process remembers of it may be old, and would be refused.
  const planned = await planMessages(scope, session, messages, { redact }, { again: true })
  // A turn is decided on rows as they are: a message whose id exists is replaced.
  const parts = planned.parts.map(
    ({ seen, ...rest }): Part => (rest.decider.table === 'messages' || seen === undefined ? rest : { ...rest, seen }),
  )
  const { redactor } = scope.engine
  const rows = await Promise.all(planned.parts.slice(0, messages.length).map(({ id }) => readStored(scope, 'messages', id)))
  const said = messages.flatMap((one, i) => {
    const summary = summaryOf(redact && redactor ? redactor.value(one) : one)
    return summary ? [{ ...summary, id: planned.ids[i] as string }] : []
  })
  const added = said.filter(({ id }) => !rows[planned.ids.indexOf(id)]).length
  return { ...planned, parts, said, added, first: said.find(({ role, text }) => role === 'user' && text !== '')?.text }
}

type Summary = Pick<HeadMove, 'messages' | 'first' | 'preview' | 'intent' | 'of'>

/** A turn whose nodes and messages say the same is counted once. */
export function summed(head: Pick<HeadRow, 'messages' | 'first'>, move: Summary, said: TurnMessages | undefined): Summary {
  if (!said) return move
  const preview = move.preview ?? said.said.findLast(({ text }) => text !== '')?.text
  const intent = move.intent ?? said.said.findLast(({ role, text }) => role === 'user' && text !== '')?.text
  const first = head.first === undefined ? (move.first ?? said.first) : undefined
  const by = (text: string | undefined) => said.said.find((one) => one.text === text)?.id
  return {
    of: { first: by(first), preview: by(preview), intent: by(intent) },
    messages: Math.max(move.messages, head.messages + said.added),
    ...(first !== undefined && { first }),
    ...(preview !== undefined && { preview }),
    ...(intent !== undefined && { intent }),
  }
}
