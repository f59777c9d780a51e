// Adds, replaces and removes messages. Each call is one commit.

import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { checkKnown, invalidOption, looking, optionsOf } from '../../../model/options.ts'
import type { MessageRecord, MessageRow } from '../../../model/thread.ts'
import type { SessionView } from '../../feature.ts'
import { maskKey } from '../../naming/names.ts'
import { summaryOf } from '../../reading/message-text.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type DoneRow, part } from '../../writing/part.ts'
import { type Build, type Round, type Share, transact } from '../../writing/transact.ts'
import { titleShare, wantsTitle } from '../sessions/derive-title.ts'
import { takeMessage } from './check-message.ts'
import { stageContent } from './content.ts'
import { type Rules, takeFromClient } from './from-client.ts'
import { readMessage } from './linked-approvals.ts'
import { isShown, messageRow, type ThreadPlace } from './list-messages.ts'
import { message as decider, type MessageCommand } from './message-decider.ts'
import { type MessageOptions, messageRowId, planMessages } from './plan-messages.ts'
import type { AnyMessage, StoredMessage } from './stored-message.ts'
import { messageOf } from './stored-rows.ts'
import { seeThread, threadGuard, threadsSeen } from './thread-memory.ts'

export interface AddOptions extends MessageOptions {
  /**
   * `'client'`: the messages come from a browser or another program that is not trusted. It may add and change messages of the user, and send those
   * of the assistant that the thread has; it cannot answer an approval, change a tool call or invent one. Anything else is refused.
   */
  readonly from?: 'client'
  /** Names of tools that run in the client: it gives their results, once for each call. Only with `from`. */
  readonly clientTools?: readonly string[]
}

export interface AddedMessage {
  readonly id: string
  /** The seq of the last event about the message. */
  readonly revision: number
}

export async function addMessages(
  scope: Scope,
  { session, thread }: ThreadPlace,
  handed: readonly unknown[],
  options: AddOptions | undefined,
  /** The session takes its title from the first message of the user, if it has none. */
  view?: SessionView,
): Promise<readonly AddedMessage[]> {
  checkOpen(scope.engine)
  const messages = looking('messages', () => (Array.isArray(handed) ? [...handed] : handed))
  const taken = optionsOf(options, 'add')
  const { parent, trigger, execution, record, redact, from, clientTools, ...unknown } = taken
  checkKnown(unknown, 'a message')
  // Messages would be believed because a variable was not set.
  if (from === undefined && Object.hasOwn(taken, 'from')) throw invalidOption('from', "'client'", from)
  const rules = clientRules(from, clientTools, redact)
  const about = { parent, trigger, execution, record, thread } as MessageOptions
  const build: Build<readonly AddedMessage[]> = async (scope, round) => {
    const client = rules && (await takeFromClient(scope, { session, thread }, messages, rules))
    const given = client?.messages ?? messages
    const masks = client ? { redact: false, seen: client.seen } : { ...(redact !== undefined && { redact }) }
    const { ids, committed, ...share } = await planMessages(scope, session, given, { ...about, ...masks }, round)
    const all = client?.ids ?? ids.map((id) => ({ id, kept: undefined }))
    const added: Share<readonly AddedMessage[]> = {
      ...share,
      committed: (rows) => {
        const done = new Map(committed(rows).map(({ revision }, i) => [ids[i], revision]))
        return all.map(({ id, kept }) => ({ id, revision: kept ?? (done.get(id) as number) }))
      },
    }
    const asked = view && share.parts.length > 0 && wantsTitle(view) ? firstAsked(scope, given, !client && redact !== false) : undefined
    return view ? [added, titleShare(view, asked)] : added
  }
  return transact(scope, build, { open: session })
}

function clientRules(from: unknown, tools: unknown, redact: unknown): Rules | undefined {
  if (from !== undefined && from !== 'client') throw invalidOption('from', "'client'", from)
  if (from === undefined && tools !== undefined) throw invalidOption('clientTools', "nothing without `from: 'client'`", tools)
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((name) => typeof name === 'string')))
    throw invalidOption('clientTools', 'a list of names of tools', tools)
  if (redact !== undefined && typeof redact !== 'boolean') throw invalidOption('redact', 'true or false', redact)
  return from && { tools: tools ?? [], redact: redact !== false }
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
  read: typeof readMessage = readMessage,
): Promise<StoredMessage> {
  checkOpen(scope.engine)
  const { redact = true, record, ...unknown } = optionsOf(options, 'update')
  checkKnown(unknown, 'an update of a message')
  if (typeof redact !== 'boolean') throw invalidOption('redact', 'true or false', redact)
  if (typeof change !== 'function') throw invalidOption('change', 'a function of the message', change)
  const build: Build<StoredMessage> = async (scope, round) => {
    const stored = await messageRow(scope, place, id)
    const row = messageOf(stored)
    if (!row.content) throw refuse('MESSAGE_ERASED', { message: row.message })
    if (!isShown(row)) throw refuse('MESSAGE_UNKNOWN', { thread: place.thread, message: row.message })
    const taken = takeMessage(scope, await change((await read(scope, place.session, row.content)) as StoredMessage))
    if (maskKey(scope, taken.id) !== row.message)
      throw refuse('MESSAGE_INVALID', { message: row.message, why: 'an update keeps the id of the message', path: '$.id' })
    const { redactor } = scope.engine
    const masked = (redact && redactor ? redactor.value(taken) : taken) as AnyMessage & Json
    const { content, ...staged } = await stageContent(scope, masked)
    const set = { thread: place.thread, message: row.message, role: taken.role, content, ...(record && { record }) }
    const seen = { body: row, revision: stored.revision }
    const share = await messageShare(scope, place, row.message, { verb: 'put', set }, round, seen)
    return [{ ...share, committed: () => masked as AnyMessage as StoredMessage }, staged]
  }
  return transact(scope, build, { open: place.session })
}

/** The share of one command about one message of an open thread. */
export async function messageShare(
  scope: Scope,
  { session, thread }: ThreadPlace,
  id: string,
  command: MessageCommand,
  { again }: Pick<Round, 'again'>,
  seen?: DoneRow<MessageRow>,
): Promise<Share<DoneRow<MessageRow>>> {
  // A thread that was renamed or reopened elsewhere is read again; one that was archived refuses.
  if (again) threadsSeen(scope.engine).forget(scope.tenant, thread)
  const found = await seeThread(scope, session, thread)
  if (found.body && found.body.state !== 'open') throw refuse('THREAD_CLOSED', { thread, state: found.body.state })
  const about = { session, whole: true, ...(seen && { seen }) }
  return {
    parts: [part(decider, messageRowId(scope, session, id), command, about)],
    guards: [threadGuard(thread, found)],
    committed: ([row]) => row as DoneRow<MessageRow>,
  }
}

/** Commits one command about one message of an open thread. */
export const writeMessage = (scope: Scope, place: ThreadPlace, id: string, command: MessageCommand): Promise<DoneRow<MessageRow>> =>
  transact(scope, (scope, round) => messageShare(scope, place, id, command, round), { open: place.session })

export async function setRecord(scope: Scope, place: ThreadPlace, id: string, record: MessageRecord): Promise<void> {
  const message = maskKey(scope, id)
  await writeMessage(scope, place, message, { verb: 'record', thread: place.thread, message, record })
}
