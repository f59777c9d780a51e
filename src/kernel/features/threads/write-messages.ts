// Adds, replaces and removes messages. Each call is one commit.

import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { TableName } from '../../../model/tables.ts'
import type { MessageRecord, MessageRow } from '../../../model/thread.ts'
import type { SessionView } from '../../feature.ts'
import { maskKey } from '../../naming/names.ts'
import { summaryOf } from '../../reading/message-text.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { type DoneRow, part, plan } from '../../writing/execute.ts'
import { conflictOrGone, retryConflicts } from '../../writing/retry-conflicts.ts'
import { noteTitle, titleParts, wantsTitle } from '../sessions/derive-title.ts'
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
  messages: readonly unknown[],
  options: AddOptions | undefined,
  /** The session takes its title from the first message of the user, if it has none. */
  view?: SessionView,
): Promise<readonly AddedMessage[]> {
  checkOpen(scope.engine)
  const taken = optionsOf(options, 'add')
  const { parent, trigger, execution, record, redact, from, clientTools, ...unknown } = taken
  checkKnown(unknown, 'a message')
  // Messages would be believed because a variable was not set.
  if (from === undefined && Object.hasOwn(taken, 'from')) throw invalidOption('from', "'client'", from)
  const rules = clientRules(from, clientTools, redact)
  const about = { parent, trigger, execution, record, thread } as MessageOptions
  // A message of a client is compared with a row, so it is written only where that row has not changed meanwhile.
  return whileThreadChanges(
    scope,
    { session, thread },
    async () => {
      const client = rules && (await takeFromClient(scope, { session, thread }, messages, rules))
      const given = client?.messages ?? messages
      const masks = client ? { redact: false, seen: client.seen } : { ...(redact !== undefined && { redact }) }
      const { parts, nodes, guards, ids, learn } = await planMessages(scope, session, given, { ...about, ...masks })
      const done = new Map<string, number>()
      if (parts.length > 0) {
        const asked = view && wantsTitle(view) ? firstAsked(scope, given, !client && redact !== false) : undefined
        const title = view ? titleParts(view, asked) : []
        const { rows } = await plan(scope, [...parts, ...title], { nodes, guards, open: session, once: client !== undefined })
        learn(rows.slice(0, parts.length))
        if (view) noteTitle(view, rows.at(-1), asked)
        ids.forEach((id, i) => {
          done.set(id, (rows[i] as DoneRow).revision)
        })
      }
      const all = client?.ids ?? ids.map((id) => ({ id, kept: undefined }))
      return all.map(({ id, kept }) => ({ id, revision: kept ?? (done.get(id) as number) }))
    },
    rules && CLIENT_ROWS,
  )
}

const CLIENT_ROWS: readonly TableName[] = ['messages', 'sessions']

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
  return retryConflicts(scope, conflictOrGone('messages', 'threads'), async () => {
    const stored = await messageRow(scope, place, id)
    const row = messageOf(stored)
    if (!row.content) throw refuse('MESSAGE_ERASED', { message: row.message })
    if (!isShown(row)) throw refuse('MESSAGE_UNKNOWN', { thread: place.thread, message: row.message })
    const taken = takeMessage(scope, await change((await read(scope, place.session, row.content)) as StoredMessage))
    if (maskKey(scope, taken.id) !== row.message)
      throw refuse('MESSAGE_INVALID', { message: row.message, why: 'an update keeps the id of the message', path: '$.id' })
    const { redactor } = scope.engine
    const masked = (redact && redactor ? redactor.value(taken) : taken) as AnyMessage & Json
    const { content, nodes, guards } = await stageContent(scope, masked)
    const command = {
      verb: 'put',
      set: { thread: place.thread, message: row.message, role: taken.role, content, ...(record && { record }) },
    } as const
    const seen = { body: row, revision: stored.revision }
    await writeMessage(scope, place, row.message, command, { seen, nodes, guards, once: true })
    return masked as AnyMessage as StoredMessage
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
export async function whileThreadChanges<T>(
  scope: Scope,
  { thread }: ThreadPlace,
  write: () => Promise<T>,
  /** Tables whose rows are read anew, too. */
  also: readonly TableName[] = [],
): Promise<T> {
  const mayHelp = conflictOrGone('threads', ...also)
  return retryConflicts(
    scope,
    (error) => {
      if (isConflict(error, 'threads')) threadsSeen(scope.engine).forget(scope.tenant, thread)
      return mayHelp(error)
    },
    write,
  )
}
