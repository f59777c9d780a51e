// Adds, replaces and removes messages. Each call is one commit.

import type { Json } from '../../model/data.ts'
import { refuse } from '../../model/errors.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import type { MessageRecord, MessageRow } from '../../model/thread.ts'
import { type DoneRow, part, plan } from '../execute.ts'
import type { SessionView } from '../feature.ts'
import { summaryOf } from '../message-text.ts'
import { maskKey } from '../names.ts'
import { isConflict } from '../outcome.ts'
import { conflictOrGone, retryConflicts } from '../retry-conflicts.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { noteTitle, titleParts, wantsTitle } from '../sessions/derive-title.ts'
import { type StoredMessage, takeMessage } from './check-message.ts'
import { readContent, stageContent } from './content.ts'
import { isShown, messageRow, type ThreadPlace } from './list-messages.ts'
import { message as decider, type MessageCommand } from './message-decider.ts'
import { type MessageOptions, messageRowId, planMessages } from './plan-messages.ts'
import { messageOf } from './stored-rows.ts'
import { seeThread, threadGuard, threadsSeen } from './thread-memory.ts'

export interface AddedMessage {
  readonly id: string
  /** The seq of the last event about the message. */
  readonly revision: number
}

export async function addMessages(
  scope: Scope,
  { session, thread }: ThreadPlace,
  messages: readonly unknown[],
  options: MessageOptions | undefined,
  /** The session takes its title from the first message of the user, if it has none. */
  view?: SessionView,
): Promise<readonly AddedMessage[]> {
  checkOpen(scope.engine)
  const { parent, trigger, execution, record, redact, ...unknown } = optionsOf(options, 'add')
  checkKnown(unknown, 'a message')
  const given = { parent, trigger, execution, record, redact, thread } as MessageOptions
  return whileThreadChanges(scope, { session, thread }, async () => {
    const { parts, nodes, guards, ids, learn } = await planMessages(scope, session, messages, given)
    if (parts.length === 0) return []
    const asked = view && wantsTitle(view) ? firstAsked(scope, messages, redact !== false) : undefined
    const title = view ? titleParts(view, asked) : []
    const { rows } = await plan(scope, [...parts, ...title], { nodes, guards, open: session })
    learn(rows.slice(0, parts.length))
    if (view) noteTitle(view, rows.at(-1), asked)
    return ids.map((id, i) => ({ id, revision: (rows[i] as DoneRow).revision }))
  })
}

/** The beginning of the first message of the user, as it is stored. */
function firstAsked({ engine }: Scope, messages: readonly unknown[], masked: boolean): string | undefined {
  const { redactor } = engine
  for (const one of messages) {
    const said = summaryOf(one)
    if (said?.role === 'user' && said.text !== '') return masked && redactor ? summaryOf(redactor.value(one))?.text : said.text
  }
  return undefined
}

export type ChangeMessage = (message: StoredMessage) => unknown

/** Calls `change` with the stored message, and stores what it returns. Calls it again if another writer was first. */
export async function updateMessage(
  scope: Scope,
  place: ThreadPlace,
  id: string,
  change: ChangeMessage,
  options: Pick<MessageOptions, 'redact' | 'record'> | undefined,
): Promise<StoredMessage> {
  checkOpen(scope.engine)
  const { redact = true, record, ...unknown } = optionsOf(options, 'update')
  checkKnown(unknown, 'an update of a message')
  if (typeof redact !== 'boolean') throw invalidOption('redact', 'true or false', redact)
  if (typeof change !== 'function') throw invalidOption('change', 'a function of the message', change)
  return retryConflicts(scope, conflictOrGone('messages', 'threads'), async () => {
    const stored = await messageRow(scope, place, id)
    const row = messageOf(stored)
    if (!row.content) throw refuse('MESSAGE_ERASED', { message: row.message })
    if (!isShown(row)) throw refuse('MESSAGE_UNKNOWN', { thread: place.thread, message: row.message })
    const taken = takeMessage(scope, await change(await readContent(scope, row.content)))
    if (maskKey(scope, taken.id) !== row.message)
      throw refuse('MESSAGE_INVALID', { message: row.message, why: 'an update keeps the id of the message', path: '$.id' })
    const { redactor } = scope.engine
    const masked = (redact && redactor ? redactor.value(taken) : taken) as unknown as StoredMessage
    const { content, nodes, guards } = await stageContent(scope, masked as unknown as Json)
    const command = {
      verb: 'put',
      set: { thread: place.thread, message: row.message, role: taken.role, content, ...(record && { record }) },
    } as const
    const seen = { body: row, revision: stored.revision }
    await writeMessage(scope, place, row.message, command, { seen, nodes, guards, once: true })
    return masked
  })
}

interface WriteOptions extends Partial<Pick<Awaited<ReturnType<typeof stageContent>>, 'nodes' | 'guards'>> {
  readonly seen?: DoneRow<MessageRow>
  readonly once?: boolean
}

/** Commits one command about one message of an open thread. */
export async function writeMessage(
  scope: Scope,
  place: ThreadPlace,
  id: string,
  command: MessageCommand,
  { seen, nodes = [], guards = [], once = false }: WriteOptions = {},
): Promise<DoneRow<MessageRow>> {
  const { session, thread } = place
  return whileThreadChanges(scope, place, async () => {
    const found = await seeThread(scope, session, thread)
    if (found.body && found.body.state !== 'open') throw refuse('THREAD_CLOSED', { thread, state: found.body.state })
    const about = { session, whole: true, ...(seen && { seen }) }
    const { rows } = await plan(scope, [part(decider, messageRowId(scope, session, id), command, about)], {
      nodes,
      guards: [threadGuard(thread, found), ...guards],
      open: session,
      once,
    })
    return rows[0]
  })
}

export async function setRecord(scope: Scope, place: ThreadPlace, id: string, record: MessageRecord): Promise<void> {
  const message = maskKey(scope, id)
  await writeMessage(scope, place, message, { verb: 'record', thread: place.thread, message, record })
}

/** A thread that was renamed or reopened elsewhere is read again; one that was archived refuses. */
export async function whileThreadChanges<T>(scope: Scope, { thread }: ThreadPlace, write: () => Promise<T>): Promise<T> {
  const mayHelp = conflictOrGone('threads')
  return retryConflicts(
    scope,
    (error) => {
      if (isConflict(error, 'threads')) threadsSeen(scope.engine).forget(scope.tenant, thread)
      return mayHelp(error)
    },
    write,
  )
}
