// The types of this feature that users see.

export type { MessageRecord, ThreadId, ThreadState } from '../../model/thread.ts'
export type { MessagePart, StoredMessage } from './check-message.ts'
export type { MessageChunk } from './fold-chunks.ts'
export type { MessagesOptions } from './list-messages.ts'
export type { MessageOptions } from './plan-messages.ts'
export type { MessageStream, StreamOptions } from './stream.ts'
export type { Thread } from './thread.ts'
export type { ThreadInfo } from './thread-info.ts'
export type { CreateThreadOptions, ListThreadsOptions, SessionThreads, StoreThreads } from './threads.ts'
export type { AddedMessage, ChangeMessage } from './write-messages.ts'
