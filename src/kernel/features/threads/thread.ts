// The public handle of a thread: its messages, and the thread itself as this handle last saw it.

import { looking } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { MessageRecord, ThreadId, ThreadRow, ThreadState } from '../../../model/thread.ts'
import type { SessionView } from '../../feature.ts'
import { maskKey } from '../../naming/names.ts'
import type { ArrayPage } from '../../reading/list-rows.ts'
import { refuseDeleted } from '../../session/refuse-deleted.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { plan } from '../../writing/execute.ts'
import { part } from '../../writing/part.ts'
import { type EraseMessageOptions, type EraseMessageReport, eraseMessage } from './erase-message.ts'
import { convertMessages } from './import-messages.ts'
import { linkedApprovals, readMessage } from './linked-approvals.ts'
import { isShown, listMessages, type MessagesOptions, type ThreadPlace } from './list-messages.ts'
import { type MessageOptions, messageRowId } from './plan-messages.ts'
import { type ShownRecord, takeRecord } from './record.ts'
import { type RepairOptions, type RepairReport, repairThread } from './repair.ts'
import type { MessageData, MessageTools, StoredMessage } from './stored-message.ts'
import { checkThreadRow, messageOf } from './stored-rows.ts'
import { type MessageStream, type StreamOptions, ThreadStream } from './stream.ts'
import { thread as decider, type ThreadCommand } from './thread-decider.ts'
import { checkTitle, type ThreadInfo, threadInfo } from './thread-info.ts'
import { mainThreadId, threadsSeen } from './thread-memory.ts'
import {
  type AddedMessage,
  type AddOptions,
  addMessages,
  type ChangeMessage,
  setRecord,
  updateMessage,
  writeMessage,
} from './write-messages.ts'

export interface Thread {
  readonly id: ThreadId
  readonly title: string | undefined
  readonly user: string | undefined
  readonly state: ThreadState
  /** Adds a message, or replaces the one with its id. Several are added in one commit. */
  add(messages: readonly unknown[], options?: AddOptions): Promise<readonly AddedMessage[]>
  add(message: unknown, options?: AddOptions): Promise<AddedMessage>
  /** Returns undefined for a message that is not there, was removed, or was erased. */
  get<Metadata = unknown, Data extends MessageData = MessageData, Tools extends MessageTools = MessageTools>(
    id: string,
  ): Promise<StoredMessage<Metadata, Data, Tools> | undefined>
  /** Stores the message that `change` returns. If another writer was first, `change` is called again. */
  update(id: string, change: ChangeMessage, options?: Pick<MessageOptions, 'redact' | 'record'>): Promise<StoredMessage>
  /** Hides a message. Its content stays stored; `erase` removes it. */
  remove(id: string): Promise<void>
  /** Erases a message for good: its text is in no event, row or value any more, unless another message holds it. The report says so. */
  erase(id: string, options: EraseMessageOptions): Promise<EraseMessageReport>
  /** Adds messages in one commit, and converts those of AI SDK 4. A tool result without its call is refused. */
  import(messages: readonly unknown[], options?: AddOptions): Promise<readonly AddedMessage[]>
  /** Ends parts and tool calls that a crash or an import left open, and says what it changed. */
  repair(options?: RepairOptions): Promise<RepairReport>
  /**
   * Lists messages, oldest first: the last 50 unless told otherwise. The array is one of `UIMessage`; with a cursor on it, there are more. The
   * types of metadata, data parts and tools are what the caller says.
   */
  messages<Metadata = unknown, Data extends MessageData = MessageData, Tools extends MessageTools = MessageTools>(
    options?: MessagesOptions,
  ): Promise<ArrayPage<StoredMessage<Metadata, Data, Tools>>>
  /** Reads the record beside a message. With a second argument, sets these members of it. */
  record(id: string): Promise<ShownRecord | undefined>
  record(id: string, record: MessageRecord): Promise<ShownRecord | undefined>
  /** Streams an answer into the message with this id. Its chunks are those of a UI message stream of the AI SDK. */
  stream(id: string, options?: StreamOptions): MessageStream
  /** The thread with the number of its messages and the time of the last one. */
  info(): Promise<ThreadInfo | undefined>
  rename(title: string): Promise<void>
  /** Archives the thread: it stays readable and takes no more messages. */
  archive(): Promise<void>
  reopen(): Promise<void>
  /** Hides the thread from lists. `reopen` brings it back; deleting the session erases it. */
  delete(): Promise<void>
}

export class ThreadHandle implements Thread {
  readonly id: ThreadId
  readonly #scope: Scope
  readonly #place: ThreadPlace
  readonly #view: SessionView | undefined
  #row: ThreadRow | undefined

  /** The default thread is given the view of its session. */
  constructor(scope: Scope, place: ThreadPlace, { row, view }: { readonly row?: ThreadRow | undefined; readonly view?: SessionView } = {}) {
    this.#scope = scope
    this.#place = place
    this.#row = row
    this.#view = view
    this.id = place.thread
    refuseDeleted<Thread>(scope, place.session, this, {
      reads: ['get', 'messages', 'record', 'info'],
      writes: ['update', 'remove', 'erase', 'repair', 'rename', 'archive', 'reopen', 'delete'],
    })
  }

  get title(): string | undefined {
    return this.#row?.title
  }
  get user(): string | undefined {
    return this.#row?.owner
  }
  get state(): ThreadState {
    return this.#row?.state ?? 'open'
  }

  add(messages: readonly unknown[], options?: AddOptions): Promise<readonly AddedMessage[]>
  add(message: unknown, options?: AddOptions): Promise<AddedMessage>
  async add(given: unknown, options?: AddOptions): Promise<AddedMessage | readonly AddedMessage[]> {
    if (Array.isArray(given)) return addMessages(this.#scope, this.#place, given, options, this.#view)
    return (await addMessages(this.#scope, this.#place, [given], options, this.#view))[0] as AddedMessage
  }

  async get<Metadata, Data extends MessageData, Tools extends MessageTools>(id: string) {
    const row = await this.#read(id)
    if (!row || !isShown(row)) return undefined
    return (await readMessage(this.#scope, this.#place.session, row.content)) as StoredMessage<Metadata, Data, Tools>
  }

  update(id: string, change: ChangeMessage, options?: Pick<MessageOptions, 'redact' | 'record'>): Promise<StoredMessage> {
    return updateMessage(this.#scope, this.#place, id, change, options)
  }

  async remove(id: string): Promise<void> {
    const message = maskKey(this.#scope, id)
    await writeMessage(this.#scope, this.#place, message, { verb: 'remove', thread: this.id, message })
  }

  async erase(id: string, options: EraseMessageOptions): Promise<EraseMessageReport> {
    return eraseMessage(this.#scope, this.#place, id, options)
  }

  async import(messages: readonly unknown[], options?: AddOptions): Promise<readonly AddedMessage[]> {
    return addMessages(
      this.#scope,
      this.#place,
      looking('messages', () => convertMessages(messages)),
      options,
      this.#view,
    )
  }

  async repair(options?: RepairOptions): Promise<RepairReport> {
    return repairThread(this.#scope, this.#place, options)
  }

  async messages<Metadata, Data extends MessageData, Tools extends MessageTools>(options?: MessagesOptions) {
    return (await listMessages(this.#scope, this.#place, options)) as ArrayPage<StoredMessage<Metadata, Data, Tools>>
  }

  async record(id: string, given?: MessageRecord): Promise<ShownRecord | undefined> {
    if (given !== undefined) await setRecord(this.#scope, this.#place, id, takeRecord(this.#scope, given))
    const row = await this.#read(id)
    if (!row?.content) return row && { erased: true }
    const approvals = await linkedApprovals(
      this.#scope,
      this.#place.session,
      await readMessage(this.#scope, this.#place.session, row.content),
    )
    return { ...row.record, ...(approvals.length > 0 && { approvals }) }
  }

  stream(id: string, options?: StreamOptions): MessageStream {
    return new ThreadStream(this.#scope, this.#place, id, options)
  }

  async info(): Promise<ThreadInfo | undefined> {
    checkOpen(this.#scope.engine)
    const stored = await this.#scope.engine.backend.rows.get(this.#scope.tenant, 'threads', this.id)
    if (!stored) return undefined
    this.#row = checkThreadRow(decodeBody(stored.body, stored))
    return threadInfo(this.#scope, this.#row)
  }

  async rename(title: string): Promise<void> {
    await this.#do({ verb: 'rename', id: this.id, session: this.#place.session, title: checkTitle(this.#scope, title) })
  }
  async archive(): Promise<void> {
    await this.#do({ verb: 'archive', id: this.id, session: this.#place.session })
  }
  async reopen(): Promise<void> {
    await this.#do({ verb: 'reopen', id: this.id, session: this.#place.session })
  }
  async delete(): Promise<void> {
    await this.#do({ verb: 'delete', id: this.id, session: this.#place.session })
  }

  async #read(id: string) {
    checkOpen(this.#scope.engine)
    const { session, thread } = this.#place
    const row = await this.#scope.engine.backend.rows.get(
      this.#scope.tenant,
      'messages',
      messageRowId(this.#scope, session, maskKey(this.#scope, id)),
    )
    const body = row && messageOf(row)
    return body?.thread === thread ? body : undefined
  }

  /** The default thread is made when it is changed before it has messages. */
  async #do(command: ThreadCommand): Promise<void> {
    const { session, thread } = this.#place
    checkOpen(this.#scope.engine)
    if (thread === mainThreadId(this.#scope, session) && !this.#row) {
      const create = part(decider, thread, { verb: 'create', set: { session, main: true } }, { session })
      await plan(this.#scope, [create], { open: session })
    }
    const { rows } = await plan(this.#scope, [part(decider, thread, command, { session })], { open: session })
    this.#row = rows[0].body
    threadsSeen(this.#scope.engine).set(this.#scope.tenant, thread, rows[0])
  }
}
