// A thread of a session, and the messages in it.

import type { Id, SessionId } from './ids.ts'
import type { ValueContent } from './state.ts'

export type ThreadId = Id<'thread'>

export const THREAD_STATES = ['open', 'archived', 'deleted'] as const
export type ThreadState = (typeof THREAD_STATES)[number]

export interface ThreadRow {
  readonly id: ThreadId
  readonly session: SessionId
  readonly schema: number
  /** The user that the thread belongs to: the owner of its session, unless another was given. */
  readonly owner?: string
  readonly title?: string
  readonly state: ThreadState
  /** The default thread of its session. */
  readonly main?: true
  readonly at: number
  readonly changedAt: number
}

export const MESSAGE_ROLES = ['system', 'user', 'assistant'] as const
export type MessageRole = (typeof MESSAGE_ROLES)[number]

/** JSON text of the message, or the ref of a value: a row sorts the keys of JSON, and a message keeps its own order. */
export type MessageContent = { readonly text: string } | ValueContent

export interface MessageRow {
  readonly id: Id<'message'>
  readonly session: SessionId
  readonly schema: number
  readonly thread: ThreadId
  /** The id of the message, as the caller chose it. */
  readonly message: string
  readonly role?: MessageRole
  /** Absent when the payload was erased. */
  readonly content?: MessageContent
  /** The id of the message before it. Absent: the message that was added before it. Null: there is none. */
  readonly parent?: string | null
  /** The reason why the message was made, such as `submit-message` or `regenerate-message`. */
  readonly trigger?: string
  /** The execution that made the message. */
  readonly execution?: string
  readonly record?: MessageRecord
  readonly tally?: MessageTally
  /** The message was removed, and is not shown. */
  readonly hidden?: true
  readonly at: number
  readonly changedAt: number
}

/** So many messages of the thread have a `born` up to `at`. With 0 for `at`, they are those before this message. */
export interface MessageTally {
  readonly messages: number
  readonly at: number
}

/** Those of the AI SDK. */
export const FINISH_REASONS = ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other', 'unknown'] as const

/** Data beside a message. It does not count in the usage of the store. */
export interface MessageRecord {
  /** The message was being streamed when its writer stopped. */
  readonly interrupted?: boolean
  /** The text of the `error` chunk that ended a stream. */
  readonly error?: string
  /** The reason of the `abort` chunk that ended a stream; true if it gave none. */
  readonly aborted?: string | true
  /** One of FINISH_REASONS; a stream keeps what its `finish` chunk says. */
  readonly finishReason?: string
  /** Counts as `run.usage` takes them, or those of the AI SDK. */
  readonly usage?: { readonly [key: string]: unknown }
  readonly cost?: number
  readonly durationMs?: number
  readonly completedAt?: number
  readonly model?: string
  readonly provider?: string
  /** Whatever else the application measures. */
  readonly statistics?: { readonly [key: string]: unknown }
}
