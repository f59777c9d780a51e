// Tool calls in a stream: their input as it comes, the call, questions for approval, and the result.

import { refuse } from '../../model/errors.ts'
import type { MessageChunk, OpenMessage, OpenPart } from './fold-chunks.ts'
import { parsePartialJson } from './partial-json.ts'

interface StreamedInput {
  text: string
  readonly call: MessageChunk
}

export class ToolParts {
  readonly #message: OpenMessage
  /** Inputs that come in pieces, by the id of their call. */
  readonly #inputs = new Map<string, StreamedInput>()

  constructor(message: OpenMessage) {
    this.#message = message
    // An input that was cut off by a crash goes on where it stopped.
    for (const part of message.parts)
      if (part.state === 'input-streaming') this.#inputs.set(part.toolCallId, { text: part.rawInput ?? '', call: callOf(part) })
  }

  forget(): void {
    this.#inputs.clear()
  }

  write(chunk: MessageChunk): void {
    const { toolCallId, providerMetadata } = chunk
    switch (chunk.type) {
      case 'tool-input-start':
        this.#inputs.set(toolCallId, { text: '', call: chunk })
        this.#put(chunk, { state: 'input-streaming', input: undefined, inputEncoding: chunk.inputEncoding })
        return
      case 'tool-input-delta':
        this.#delta(chunk)
        return
      case 'tool-input-available':
        this.#put(chunk, { state: 'input-available', input: chunk.input })
        return
      case 'tool-input-error':
        this.#put(chunk, { state: 'output-error', input: chunk.input, errorText: chunk.errorText })
        return
      case 'tool-approval-request': {
        const part = this.#find(chunk)
        part.state = 'approval-requested'
        part.approval = {
          id: chunk.approvalId,
          ...given('descriptor', chunk.approvalDescriptor),
          ...given('inputSchemaInput', chunk.inputSchemaInput),
          ...given('requestReason', chunk.reason),
          ...given('isAutomatic', chunk.isAutomatic),
          ...given('signature', chunk.signature),
        }
        return
      }
      case 'tool-approval-response': {
        const part = this.#message.parts.find(({ approval }) => approval?.id === chunk.approvalId)
        if (!part) throw this.#refused(chunk, `no tool call asks for the approval ${JSON.stringify(chunk.approvalId)}`)
        part.state = 'approval-responded'
        part.approval = { ...part.approval, approved: chunk.approved, ...given('reason', chunk.reason) }
        if (chunk.providerExecuted !== undefined) part.providerExecuted = chunk.providerExecuted
        if (providerMetadata) part.callProviderMetadata = providerMetadata
        return
      }
      case 'tool-output-denied':
        this.#find(chunk).state = 'output-denied'
        return
      case 'tool-output-available':
        this.#result(chunk, { state: 'output-available', output: chunk.output, preliminary: chunk.preliminary })
        return
      case 'tool-output-error':
        this.#result(chunk, { state: 'output-error', errorText: chunk.errorText })
        return
      default:
        throw this.#refused(chunk, 'no chunk has this type')
    }
  }

  #delta(chunk: MessageChunk): void {
    const input = this.#inputs.get(chunk.toolCallId)
    if (!input) throw this.#refused(chunk, `no input of the tool call ${JSON.stringify(chunk.toolCallId)} is open`)
    input.text += chunk.inputTextDelta
    const { inputEncoding } = input.call
    const value = inputEncoding === 'text' ? input.text : parsePartialJson(input.text)
    this.#put(
      { ...input.call, providerMetadata: undefined },
      { state: 'input-streaming', input: value, rawInput: input.text, inputEncoding },
    )
  }

  #result(chunk: MessageChunk, change: { readonly [member: string]: unknown }): void {
    const part = this.#find(chunk)
    set(part, { output: undefined, errorText: undefined, preliminary: undefined, rawInput: undefined, ...change })
    about(part, chunk, 'resultProviderMetadata')
  }

  /** Makes or changes the part of a call. */
  #put(chunk: MessageChunk, change: { readonly state: string; readonly [member: string]: unknown }): void {
    const { toolCallId, toolName, dynamic } = chunk
    const type = dynamic ? 'dynamic-tool' : `tool-${toolName}`
    const isSame = (part: OpenPart): boolean =>
      part.toolCallId === toolCallId && (dynamic ? part.type === 'dynamic-tool' : part.type.startsWith('tool-'))
    const known = this.#step().find(isSame)
    const part: OpenPart = known ?? { type, ...(dynamic && { toolName }), toolCallId, state: change.state }
    if (!known) this.#message.parts.push(part)
    part.type = type
    if (dynamic) part.toolName = toolName
    set(part, { output: undefined, errorText: undefined, preliminary: undefined, rawInput: undefined, inputEncoding: undefined, ...change })
    about(part, chunk, change.state === 'output-error' ? 'resultProviderMetadata' : 'callProviderMetadata')
  }

  #find(chunk: MessageChunk): OpenPart {
    const isIt = ({ type, toolCallId }: OpenPart): boolean => isTool(type) && toolCallId === chunk.toolCallId
    // A later step may give the result of an earlier one.
    const part = this.#step().find(isIt) ?? this.#message.parts.findLast(isIt)
    if (part) return part
    if (chunk.type.startsWith('tool-output')) throw refuse('TOOL_CALL_MISSING', { message: this.#message.id, toolCallId: chunk.toolCallId })
    throw this.#refused(chunk, `there is no tool call ${JSON.stringify(chunk.toolCallId)}`)
  }

  /** The parts of the current step: an id of a call counts within its step. */
  #step(): readonly OpenPart[] {
    const { parts } = this.#message
    return parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1)
  }

  #refused({ type }: MessageChunk, why: string) {
    return refuse('CHUNK_INVALID', { message: this.#message.id, type: type.slice(0, 80), why })
  }
}

const isTool = (type: string): boolean => type === 'dynamic-tool' || type.startsWith('tool-')

const given = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value })

function set(part: OpenPart, change: { readonly [member: string]: unknown }): void {
  for (const [name, value] of Object.entries(change))
    if (value === undefined) delete part[name]
    else part[name] = value
}

/** Members that a later chunk leaves as they are if it does not have them. */
function about(part: OpenPart, { title, toolMetadata, providerExecuted, providerMetadata }: MessageChunk, metadata: string): void {
  if (title !== undefined) part.title = title
  if (toolMetadata !== undefined) part.toolMetadata = toolMetadata
  if (providerExecuted !== undefined) part.providerExecuted = providerExecuted
  if (providerMetadata) part[metadata] = providerMetadata
}

function callOf({ type, toolName, toolCallId, inputEncoding }: OpenPart): MessageChunk {
  const dynamic = type === 'dynamic-tool'
  return { type: 'tool-input-start', toolCallId, toolName: dynamic ? toolName : type.slice('tool-'.length), dynamic, inputEncoding }
}
