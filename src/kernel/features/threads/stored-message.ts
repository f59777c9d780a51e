// Messages as programs see them: assignable to `UIMessage` of the AI SDK, and written out here, so that nobody has to install it.

import type { MessageRole } from '../../../model/thread.ts'

/**
 * A message of the AI SDK. Generic, as `UIMessage` is, over its metadata, the data of its data parts, and the tools. Members and parts that this
 * version does not know are kept as they are, and have no type here.
 */
export interface StoredMessage<Metadata = unknown, Data extends MessageData = MessageData, Tools extends MessageTools = MessageTools> {
  id: string
  role: MessageRole
  metadata?: Metadata
  parts: MessagePart<Data, Tools>[]
}

/** The data of data parts, by the name that follows `data-`. */
export type MessageData = Record<string, unknown>

/** Input and output of tools, by name. */
export type MessageTools = Record<string, { input: unknown; output: unknown }>

type JsonValue = null | boolean | number | string | JsonValue[] | JsonMembers
type JsonMembers = { [key: string]: JsonValue | undefined }
type Metadata = Record<string, JsonMembers>

type Progress = 'streaming' | 'done'
type Deep<T> = T extends object ? { [K in keyof T]?: Deep<T[K]> } : T

type Source =
  | { type: 'source'; sourceType: 'url'; id: string; url: string; title?: string; providerMetadata?: Metadata }
  | {
      type: 'source'
      sourceType: 'document'
      id: string
      mediaType: string
      title: string
      filename?: string
      providerMetadata?: Metadata
    }
type Citation = { source: Source; startIndex?: number; endIndex?: number; citedText?: string }

type TextPart = { type: 'text'; text: string; state?: Progress; citations?: Citation[]; providerMetadata?: Metadata }
type FilePart = {
  type: 'file'
  mediaType: string
  url: string
  filename?: string
  /** Provider names and the id of the file there. */
  providerReference?: Record<string, string> & { type?: never }
  providerMetadata?: Metadata
}

type Approval = {
  id: string
  descriptor?: unknown
  requestReason?: string
  isAutomatic?: boolean
  signature?: string
  inputSchemaInput?: unknown
}
type Answered<Answer extends boolean> = Approval & { approved: Answer; reason?: string }

type Call = { toolCallId: string; title?: string; toolMetadata?: JsonMembers; providerExecuted?: boolean; callProviderMetadata?: Metadata }
type Nothing<Names extends string> = { [Name in Names]?: never }

type CallState<Input, Output> = Call &
  (
    | ({ state: 'input-streaming'; input?: Deep<Input> | undefined; rawInput?: string; inputEncoding?: 'json' | 'text' } & Nothing<
        'output' | 'errorText' | 'approval'
      >)
    | ({ state: 'input-available'; input: Input } & Nothing<'output' | 'errorText' | 'approval'>)
    | ({ state: 'approval-requested'; input: Input; approval: Approval & Nothing<'approved' | 'reason'> } & Nothing<'output' | 'errorText'>)
    | ({ state: 'approval-responded'; input: Input; approval: Answered<boolean> } & Nothing<'output' | 'errorText'>)
    | ({
        state: 'output-available'
        input: Input
        output: Output
        preliminary?: boolean
        approval?: Answered<true>
        resultProviderMetadata?: Metadata
      } & Nothing<'errorText'>)
    | ({
        state: 'output-error'
        input: Input
        errorText: string
        approval?: Answered<true>
        resultProviderMetadata?: Metadata
      } & Nothing<'output'>)
    | ({ state: 'output-denied'; input: Input; approval: Answered<false> } & Nothing<'output' | 'errorText'>)
  )

type ValueOf<T> = T[keyof T]

/** A part of a message. A part whose type this version does not know is in the list, too: it falls through a `switch` over the types. */
export type MessagePart<Data extends MessageData = MessageData, Tools extends MessageTools = MessageTools> =
  | TextPart
  | FilePart
  | { type: 'reasoning'; text: string; id?: string; state?: Progress; providerMetadata?: Metadata }
  | { type: 'reasoning-file'; mediaType: string; url: string; providerMetadata?: Metadata }
  | { type: 'source-url'; sourceId: string; url: string; title?: string; providerMetadata?: Metadata }
  | { type: 'source-document'; sourceId: string; mediaType: string; title: string; filename?: string; providerMetadata?: Metadata }
  | { type: 'custom'; kind: `${string}.${string}`; providerMetadata?: Metadata }
  | { type: 'steering-message'; id: string; parts: (TextPart | FilePart)[] }
  | { type: 'step-start' }
  | ValueOf<{ [Name in keyof Data & string]: { type: `data-${Name}`; id?: string; data: Data[Name] } }>
  | ValueOf<{ [Name in keyof Tools & string]: { type: `tool-${Name}` } & CallState<Tools[Name]['input'], Tools[Name]['output']> }>
  | ({ type: 'dynamic-tool'; toolName: string; dynamic?: false } & CallState<unknown, unknown>)

/** A message as the kernel handles it: any part may have any members. */
export interface AnyMessage {
  readonly id: string
  readonly role: MessageRole
  readonly parts: readonly AnyPart[]
  readonly metadata?: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: parts have many shapes, and applications add their own members
export type AnyPart = { readonly type: string; readonly [member: string]: any }
