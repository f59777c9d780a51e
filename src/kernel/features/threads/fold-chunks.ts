// Folds the chunks of a UI message stream into a message, as the reader of the AI SDK does. A chunk of an unknown type becomes a part.

import { takeExact } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { flawOf, isKnownChunk } from './check-chunk.ts'
import { isKnownType, isText, isTool } from './check-part.ts'
import { ToolParts } from './fold-tools.ts'

/** A chunk of a UI message stream. */
// biome-ignore lint/suspicious/noExplicitAny: chunks have many shapes, and applications add their own members
export type MessageChunk = { readonly type: string; readonly [member: string]: any }

// biome-ignore lint/suspicious/noExplicitAny: a part is built member by member
export type OpenPart = { type: string; [member: string]: any }

export interface OpenMessage {
  id: string
  metadata?: unknown
  role: 'assistant'
  parts: OpenPart[]
}

/** Parts that a chunk adds whole: the members that are taken over. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  file: ['mediaType', 'url', 'providerMetadata'],
  'reasoning-file': ['mediaType', 'url', 'providerMetadata'],
  'source-url': ['sourceId', 'url', 'title', 'providerMetadata'],
  'source-document': ['sourceId', 'mediaType', 'title', 'filename', 'providerMetadata'],
  custom: ['kind', 'providerMetadata'],
  'steering-message': ['id', 'parts'],
}

export class ChunkFold {
  readonly #message: OpenMessage
  /** Texts and reasonings that are open, by kind and id. */
  readonly #open = new Map<string, OpenPart>()
  readonly #tools: ToolParts
  /** The id of the message that the chunks are about. The stream keeps its own. */
  #about: string
  finishReason: string | undefined
  /** The reason why the stream ended early: an error, or an abort. */
  failure: { readonly error?: string; readonly aborted?: string | true } | undefined

  constructor(id: string, begun?: { readonly [member: string]: unknown }) {
    this.#message = begun ? (takeExact(begun) as unknown as OpenMessage) : { id, metadata: undefined, role: 'assistant', parts: [] }
    this.#tools = new ToolParts(this.#message)
    this.#about = this.#message.id
  }

  /** The message so far. */
  get message(): OpenMessage {
    this.#tools.read()
    return this.#message
  }

  /** Parts whose text or input has not ended. */
  get isOpen(): boolean {
    return this.#message.parts.some(isOpen)
  }

  write(chunk: MessageChunk): void {
    if (typeof chunk !== 'object' || chunk === null || typeof chunk.type !== 'string' || chunk.type === '')
      throw refuse('CHUNK_INVALID', { message: this.#message.id, type: null, why: 'it has no type' })
    const { type } = chunk
    const why = flawOf(chunk)
    if (why !== undefined) throw refuse('CHUNK_INVALID', { message: this.#message.id, type: type.slice(0, 80), why })
    if (!isKnownChunk(type)) this.#unknown(chunk)
    else if (Object.hasOwn(WHOLE, type)) this.#add(chunk, WHOLE[type] as readonly string[])
    else if (type.startsWith('data-')) this.#data(chunk)
    else if (type.startsWith('text-') || (type.startsWith('reasoning-') && type !== 'reasoning-file')) this.#text(chunk)
    else if (type.startsWith('tool-')) this.#tools.write(chunk)
    else this.#control(chunk)
  }

  #control(chunk: MessageChunk): void {
    const { parts } = this.#message
    // A step ends, so the inputs that it has are read.
    this.#tools.read()
    switch (chunk.type) {
      case 'start':
        if (typeof chunk.messageId === 'string' && chunk.messageId !== this.#about) this.#restart(chunk.messageId)
        this.#describe(chunk.messageMetadata)
        return
      case 'message-metadata':
        this.#describe(chunk.messageMetadata)
        return
      case 'finish':
        if (typeof chunk.finishReason === 'string') this.finishReason = chunk.finishReason
        this.#describe(chunk.messageMetadata)
        return
      case 'start-step':
        parts.push({ type: 'step-start' })
        return
      case 'finish-step':
        return
      case 'reset-step':
        parts.length = parts.findLastIndex(({ type }) => type === 'step-start') + 1
        this.#open.clear()
        this.#tools.forget()
        return
      case 'error':
        this.failure = { error: String(chunk.errorText) }
        return
      case 'abort':
        this.failure = { aborted: typeof chunk.reason === 'string' ? chunk.reason : true }
        return
    }
  }

  /** It becomes a part as it came. Where its type is that of a part, it is put into one, because it would be taken for something else. */
  #unknown(chunk: MessageChunk): void {
    this.message.parts.push(isKnownType(chunk.type) ? { type: 'chunk', chunk } : { ...chunk })
  }

  /** Another message begins; it is stored under the id of this stream all the same. */
  #restart(about: string): void {
    this.#about = about
    this.#message.parts.length = 0
    this.#message.metadata = undefined
    this.#open.clear()
    this.#tools.forget()
    this.finishReason = undefined
    this.failure = undefined
  }

  #describe(metadata: unknown): void {
    if (metadata === undefined || metadata === null) return
    this.#message.metadata = this.#message.metadata === undefined ? metadata : merged(this.#message.metadata, metadata)
  }

  #add(chunk: MessageChunk, members: readonly string[]): void {
    const taken = members.filter((name) => chunk[name] !== undefined && chunk[name] !== null).map((name) => [name, chunk[name]])
    this.#message.parts.push({ type: chunk.type, ...Object.fromEntries(taken) })
  }

  /** The chunk itself becomes the part, with all its members. A part without data has none that JSON knows. */
  #data(chunk: MessageChunk): void {
    const { type, id, data = null, transient } = chunk
    if (transient) return
    const known = id === undefined ? undefined : this.#message.parts.find((part) => part.type === type && part.id === id)
    if (known) known.data = data
    else this.#message.parts.push({ ...chunk, data })
  }

  #text(chunk: MessageChunk): void {
    const [kind = '', step = ''] = chunk.type.split('-')
    const key = `${kind} ${chunk.id}`
    const { providerMetadata } = chunk
    if (step === 'start') {
      const named = kind === 'reasoning' && { id: chunk.id }
      const part: OpenPart = { type: kind, ...named, text: '', providerMetadata, state: 'streaming' }
      this.#open.set(key, part)
      this.#message.parts.push(part)
      return
    }
    const part = this.#open.get(key)
    if (!part)
      throw refuse('CHUNK_INVALID', {
        message: this.#message.id,
        type: chunk.type.slice(0, 80),
        why: `no ${kind} with the id ${JSON.stringify(chunk.id)} is open`,
      })
    if (providerMetadata) part.providerMetadata = providerMetadata
    if (step === 'delta') {
      part.text += chunk.delta
      return
    }
    part.state = 'done'
    if (kind === 'text' && chunk.citations) part.citations = chunk.citations
    this.#open.delete(key)
  }
}

/** A text or an input that has not ended. */
export const isOpen = (part: OpenPart): boolean =>
  (isText(part) && part.state === 'streaming') || (isTool(part) && part.state === 'input-streaming')

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** Members of objects are merged; everything else is replaced. Undefined replaces nothing. */
function merged(old: unknown, given: unknown): unknown {
  const result = { ...(old as object) } as Record<string, unknown>
  for (const [key, value] of Object.entries(given as object)) {
    if (value === undefined || key === '__proto__' || key === 'constructor' || key === 'prototype') continue
    result[key] = isRecord(result[key]) && isRecord(value) ? merged(result[key], value) : value
  }
  return result
}
