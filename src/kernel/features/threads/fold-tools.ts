// Tool calls in a stream: their input as it comes, the call, questions for approval, and the result.

import { refuse } from '../../../model/errors.ts'
import { isTool } from './check-part.ts'
import type { MessageChunk, OpenMessage, OpenPart } from './fold-chunks.ts'
import { parsePartialJson } from './partial-json.ts'

/** A call whose input comes in pieces. */
interface StreamedInput {
  text: string
  /** The part, if its input is older than the text. */
  unread?: OpenPart | undefined
  readonly call: Pick<MessageChunk, 'toolCallId' | 'toolName' | 'dynamic' | 'inputEncoding' | 'title' | 'toolMetadata'>
}

type Change = { readonly state: string; readonly [member: string]: unknown }

export class ToolParts {
  readonly #message: OpenMessage
  /** By the id of the call. */
  readonly #inputs = new Map<string, StreamedInput>()

  constructor(message: OpenMessage) {
    this.#message = message
    // An input of the last step that was cut off by a crash goes on where it stopped.
    for (const part of this.#step())
      if (isTool(part) && part.state === 'input-streaming')
        this.#inputs.set(part.toolCallId, { text: part.rawInput ?? '', call: callOf(part) })
  }

  forget(): void {
    this.#inputs.clear()
  }

  /**
   * Reads the inputs that have grown. A message is written a few times per second, and a model streams an input in thousands of deltas: reading
   * it at each of them would take quadratic time.
   */
  read(): void {
    for (const input of this.#inputs.values()) this.#readOne(input)
  }

  #readOne(input: StreamedInput | undefined): void {
    if (!input?.unread) return
    input.unread.input = input.call.inputEncoding === 'text' ? input.text : parsePartialJson(input.text)
    input.unread = undefined
  }

  write(chunk: MessageChunk): void {
    const { toolCallId, inputEncoding } = chunk
    if (chunk.type !== 'tool-input-delta') this.read()
    switch (chunk.type) {
      case 'tool-input-start': {
        const { toolName, dynamic, title, toolMetadata } = chunk
        this.#inputs.set(toolCallId, { text: '', call: { toolCallId, toolName, dynamic, inputEncoding, title, toolMetadata } })
        this.#put(chunk, { state: 'input-streaming', inputEncoding })
        return
      }
      case 'tool-input-delta':
        this.#delta(chunk)
        return
      case 'tool-input-available':
        this.#put(chunk, { state: 'input-available', input: chunk.input ?? null })
        return
      case 'tool-input-error': {
        // The call keeps its kind, whatever the chunk says, and its title.
        const known = this.#step().find((part) => isTool(part) && part.toolCallId === toolCallId)
        const dynamic = known ? known.type === 'dynamic-tool' : chunk.dynamic
        this.#put({ ...chunk, dynamic, title: undefined }, { state: 'output-error', input: chunk.input, errorText: chunk.errorText })
        return
      }
      case 'tool-approval-request':
        this.#ask(chunk)
        return
      case 'tool-approval-response':
        this.#answer(chunk)
        return
      case 'tool-output-denied':
        this.#find(chunk).state = 'output-denied'
        return
      case 'tool-output-available':
        // A tool that returns nothing has the output null: JSON knows no undefined, and a result has an output.
        this.#result(chunk, { state: 'output-available', output: chunk.output ?? null, preliminary: chunk.preliminary })
        return
      case 'tool-output-error':
        this.#result(chunk, { state: 'output-error', errorText: chunk.errorText })
        return
    }
  }

  #delta(chunk: MessageChunk): void {
    const input = this.#inputs.get(chunk.toolCallId)
    if (!input) throw this.#refused(chunk, `no input of the tool call ${JSON.stringify(chunk.toolCallId)} is open`)
    input.text += chunk.inputTextDelta
    const { inputEncoding } = input.call
    const known = input.unread?.input
    input.unread = this.#put(
      { type: chunk.type, ...input.call },
      { state: 'input-streaming', input: known, rawInput: input.text, inputEncoding },
    )
  }

  #ask(chunk: MessageChunk): void {
    const part = this.#find(chunk)
    part.state = 'approval-requested'
    part.approval = {
      id: chunk.approvalId,
      ...given('descriptor', chunk.approvalDescriptor),
      ...('inputSchemaInput' in chunk && { inputSchemaInput: chunk.inputSchemaInput }),
      ...given('requestReason', chunk.reason),
      ...(chunk.isAutomatic === true && { isAutomatic: true }),
      ...given('signature', chunk.signature),
    }
  }

  #answer(chunk: MessageChunk): void {
    const part = this.#message.parts.find((one) => isTool(one) && one.approval?.id === chunk.approvalId)
    if (!part) throw this.#refused(chunk, `no tool call asks for the approval ${JSON.stringify(chunk.approvalId)}`)
    part.state = 'approval-responded'
    part.approval = { ...part.approval, approved: chunk.approved, ...given('reason', chunk.reason) }
    Object.assign(part, given('providerExecuted', chunk.providerExecuted), given('callProviderMetadata', chunk.providerMetadata))
  }

  #result(chunk: MessageChunk, change: Change): void {
    const part = this.#find(chunk)
    const keepsRaw = change.state === 'output-error' && part.type !== 'dynamic-tool'
    replace(part, { input: part.input, ...(keepsRaw && { rawInput: part.rawInput }), ...change })
    describe(part, { ...chunk, title: undefined }, 'resultProviderMetadata')
  }

  /** Makes or changes the part of a call. */
  #put(chunk: MessageChunk, change: Change): OpenPart {
    const { toolCallId, toolName, dynamic } = chunk
    const type = dynamic ? 'dynamic-tool' : `tool-${toolName}`
    const isSame = (part: OpenPart): boolean =>
      part.toolCallId === toolCallId && (dynamic ? part.type === 'dynamic-tool' : part.type.startsWith('tool-'))
    const known = this.#step().find(isSame)
    const part: OpenPart = known ?? begun(chunk, change)
    if (!known) this.#message.parts.push(part)
    part.type = type
    if (dynamic) part.toolName = toolName
    // The AI SDK gives a new part of a dynamic tool no raw input.
    replace(part, known || !dynamic ? change : { ...change, rawInput: undefined })
    describe(part, chunk, change.state === 'output-error' ? 'resultProviderMetadata' : 'callProviderMetadata')
    return part
  }

  #find(chunk: MessageChunk): OpenPart {
    const isIt = (part: OpenPart): boolean => isTool(part) && part.toolCallId === chunk.toolCallId
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

const given = (name: string, value: unknown): object => (value === undefined || value === null ? {} : { [name]: value })

/** A member that is undefined keeps its place. */
const replace = (part: OpenPart, { inputEncoding, ...change }: Change): void => {
  Object.assign(part, ENDED, change)
  if (inputEncoding === undefined) delete part.inputEncoding
  else part.inputEncoding = inputEncoding
}

/** Members that a change does not have are gone. */
const ENDED = { input: undefined, output: undefined, errorText: undefined, rawInput: undefined, preliminary: undefined }

/** A new part, with its members in the order in which the AI SDK has them. */
function begun({ toolCallId, toolName, dynamic, toolMetadata }: MessageChunk, { state, inputEncoding }: Change): OpenPart {
  const told = given('toolMetadata', toolMetadata)
  const encoded = given('inputEncoding', inputEncoding)
  const none = { output: undefined, errorText: undefined }
  if (!dynamic) {
    const type = `tool-${toolName}`
    const last = { rawInput: undefined, errorText: undefined, providerExecuted: undefined, preliminary: undefined }
    return { type, toolCallId, state, title: undefined, ...told, input: undefined, ...encoded, output: undefined, ...last }
  }
  const last = { preliminary: undefined, providerExecuted: undefined, title: undefined, ...told }
  return { type: 'dynamic-tool', toolName, toolCallId, state, input: undefined, ...encoded, ...none, ...last }
}

/** Members that a later chunk leaves as they are if it does not have them. */
function describe(part: OpenPart, { title, toolMetadata, providerExecuted, providerMetadata }: MessageChunk, metadata: string): void {
  Object.assign(
    part,
    given('title', title),
    given('toolMetadata', toolMetadata),
    given('providerExecuted', providerExecuted),
    given(metadata, providerMetadata),
  )
}

function callOf({ type, toolName, toolCallId, inputEncoding, title, toolMetadata }: OpenPart): StreamedInput['call'] {
  const dynamic = type === 'dynamic-tool'
  return { toolCallId, toolName: dynamic ? toolName : type.slice('tool-'.length), dynamic, inputEncoding, title, toolMetadata }
}
