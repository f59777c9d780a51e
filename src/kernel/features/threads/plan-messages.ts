// Messages on their way into a commit: checked, masked, and as parts of one plan. A turn adds its messages in its own commit with this.

import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkText, invalidOption } from '../../../model/options.ts'
import type { MessageRecord, MessageRow, ThreadId, ThreadRow } from '../../../model/thread.ts'
import type { ValueNode } from '../../../model/value.ts'
import type { Guard } from '../../../ports/commit.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { maskKey } from '../../naming/names.ts'
import { checkThere } from '../../session/refuse-deleted.ts'
import { readSessionRow } from '../../session/session-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type DoneRow, NOT_THERE, type Part, part } from '../../writing/part.ts'
import type { Round, Share } from '../../writing/transact.ts'
import { takeMessage } from './check-message.ts'
import { stageContent } from './content.ts'
import { message as decider } from './message-decider.ts'
import { takeRecord } from './record.ts'
import { messageOf } from './stored-rows.ts'
import { noteTally, tallyDue } from './tally.ts'
import { thread as threadDecider } from './thread-decider.ts'
import { mainThreadId, seeThread, threadGuard, threadsSeen } from './thread-memory.ts'

export interface MessageOptions {
  /** The id of the message before this one. By default it follows the message that was added before it; null begins a branch. */
  readonly parent?: string | null
  /** The reason why the message was made, such as `submit-message` or `regenerate-message`. */
  readonly trigger?: string
  /** The execution that made the message. */
  readonly execution?: string
  /** Finish reason, usage, cost and more, stored beside the message. */
  readonly record?: MessageRecord
  /** `false` stores the message without masking secrets. */
  readonly redact?: boolean
}

export interface PlanMessagesOptions extends MessageOptions {
  /** The default thread of the session, unless given. */
  readonly thread?: ThreadId | undefined
  /** The messages are being streamed: their chunks were checked. */
  readonly streamed?: boolean
  /** The row of each message as it was read. By default the ids are taken for new. */
  readonly seen?: readonly DoneRow<MessageRow>[] | undefined
}

/** One part for each message, in order, and then one that creates the default thread if it is not there yet. */
export interface MessagesShare extends Share<readonly DoneRow[]> {
  readonly parts: readonly Part[]
  readonly ids: readonly string[]
  /** Answers with the rows of the messages. */
  readonly committed: (rows: readonly DoneRow[]) => readonly DoneRow[]
}

/** Message ids are unique within a session: the row of a message follows from its id. */
export const messageRowId = (scope: Scope, session: SessionId, id: string): Id<'message'> =>
  derivedId(scope, `message/${scope.tenant}/${session}/${id}`)

/**
 * Checks messages and returns their share of a commit. At first the ids are taken for new; a commit that finds them taken is built again, reads
 * the rows and replaces the messages (upsert).
 */
export async function planMessages(
  scope: Scope,
  session: SessionId,
  messages: readonly unknown[],
  options: PlanMessagesOptions,
  round: Pick<Round, 'again'>,
): Promise<MessagesShare> {
  // What this process remembers of the thread was refused.
  if (round.again) threadsSeen(scope.engine).forget(scope.tenant, options.thread ?? mainThreadId(scope, session))
  const { thread = mainThreadId(scope, session), redact = true, streamed, seen: known } = options
  if (typeof redact !== 'boolean') throw invalidOption('redact', 'true or false', redact)
  if (messages.length > limits.messagesAtOnce)
    throw invalidOption('messages', `at most ${limits.messagesAtOnce} messages`, `${messages.length}`)
  const given = takeMessageOptions(scope, options)
  const { redactor } = scope.engine
  const seen = await seeThread(scope, session, thread)
  if (!seen.body && thread !== mainThreadId(scope, session)) throw refuse('THREAD_UNKNOWN', { thread, session })
  if (seen.body && seen.body.state !== 'open') throw refuse('THREAD_CLOSED', { thread, state: seen.body.state })
  // The part that creates the thread has a guard of its own.
  const guards: Guard[] = seen.body ? [threadGuard(thread, seen)] : []
  const tally = messages.length === 0 ? undefined : await tallyDue(scope, { session, thread }, !seen.body)
  const nodes: ValueNode[] = []
  const parts: Part[] = []
  const ids: string[] = []
  for (const one of messages) {
    const taken = takeMessage(scope, one, streamed)
    const id = maskKey(scope, taken.id)
    if (ids.includes(id)) throw refuse('MESSAGE_INVALID', { message: id, why: 'its id occurs twice in one call' })
    const { parent } = given
    if (typeof parent === 'string' && ids.length === 0) await checkParent(scope, session, thread, id, parent)
    const staged = await stageContent(scope, (redact && redactor ? redactor.value(taken) : taken) as Json, streamed)
    nodes.push(...staged.nodes)
    guards.push(...staged.guards)
    // Only the first message has the parent; the others follow one another.
    const { parent: _, ...rest } = given
    const about = ids.length === 0 ? { ...given, ...(tally && { tally }) } : rest
    const set = { thread, message: id, role: taken.role, content: staged.content, ...about }
    const before = known?.[ids.length] ?? NOT_THERE
    parts.push(
      part(decider, messageRowId(scope, session, id), { verb: 'put', set }, { session, seen: before, whole: true, outside: streamed }),
    )
    ids.push(id)
  }
  const memory = threadsSeen(scope.engine)
  if (!seen.body && parts.length > 0) {
    const session_ = await readSessionRow(scope, session)
    const owner = session_.body?.owner
    const set = { session, main: true, ...(owner !== undefined && { owner }) } as const
    // Another call of this process may have created it meanwhile.
    const now = (): DoneRow<ThreadRow> => memory.get(scope.tenant, thread) ?? NOT_THERE
    parts.push(part(threadDecider, thread, { verb: 'create', set }, { session, seen: now }))
  }
  const committed = (rows: readonly DoneRow[]) => {
    const written = rows.slice(0, messages.length)
    noteTally(scope, { session, thread }, tally, written)
    if (rows.length > messages.length) memory.set(scope.tenant, thread, rows[messages.length] as DoneRow<ThreadRow>)
    return written
  }
  return { parts, nodes, guards, ids, puts: true, committed }
}

/** Refuses what is not usable, and masks the rest. */
export function takeMessageOptions(scope: Scope, { parent, trigger, execution, record }: MessageOptions) {
  if (parent !== undefined && parent !== null && typeof parent !== 'string')
    throw invalidOption('parent', 'the id of a message, or null', parent)
  checkText('trigger', trigger)
  checkText('execution', execution)
  return {
    ...(parent !== undefined && { parent: parent === null ? null : maskKey(scope, parent) }),
    ...(trigger !== undefined && { trigger: maskKey(scope, trigger) }),
    ...(execution !== undefined && { execution: maskKey(scope, execution) }),
    ...(record !== undefined && { record: takeRecord(scope, record) }),
  }
}

/** A parent is there before its child, so the chain of parents has no cycle. */
async function checkParent(scope: Scope, session: SessionId, thread: ThreadId, message: string, parent: string): Promise<void> {
  const refused = (why: string) => refuse('MESSAGE_PARENT_INVALID', { message, parent, why })
  if (parent === message) throw refused('a message cannot follow itself, which is a cycle')
  const row = await scope.engine.backend.rows.get(scope.tenant, 'messages', messageRowId(scope, session, parent))
  const body: MessageRow | undefined = row && messageOf(row)
  if (!body) {
    await checkThere(scope, session)
    throw refused('there is no such message')
  }
  if (body.thread !== thread) throw refused(`it belongs to thread ${body.thread}`)
}
