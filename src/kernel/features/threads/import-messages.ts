// Converts messages of AI SDK 4 into today's: `content`, `toolInvocations`, attachments and the parts of that version. Others stay as they are.

import { base64 } from '../../../model/bytes.ts'
import { refuse } from '../../../model/errors.ts'
import { invalidOption } from '../../../model/options.ts'
import type { AnyPart } from './stored-message.ts'

// biome-ignore lint/suspicious/noExplicitAny: messages of older versions have many shapes
type Old = { readonly [member: string]: any }

/** Results of tools that stand in messages of their own (`role: 'tool'`) go to the call that they belong to. */
export function convertMessages(given: readonly unknown[]): readonly unknown[] {
  if (!Array.isArray(given)) throw invalidOption('messages', 'an array', given)
  const converted: unknown[] = []
  for (const old of given) {
    if (!isObject(old)) converted.push(old)
    else if (old.role === 'tool') addResults(converted, old)
    else converted.push(isOld(old) ? convert(old) : old)
  }
  return converted
}

const isObject = (value: unknown): value is Old => typeof value === 'object' && value !== null && !Array.isArray(value)

const OLD_PARTS = ['tool-invocation', 'source', 'tool-call', 'image', 'redacted-reasoning']
const isOld = ({ parts, content, toolInvocations }: Old): boolean =>
  !Array.isArray(parts) || toolInvocations !== undefined || content !== undefined || parts.some(isOldPart)

/** A part as AI SDK 4 had it. */
export const isOldPart = (part: Old): boolean =>
  OLD_PARTS.includes(part?.type) ||
  (part?.type === 'file' && part.url === undefined) ||
  (part?.type === 'reasoning' && part.text === undefined)

function convert(old: Old): Old {
  const { content, parts, toolInvocations, reasoning, experimental_attachments: files, annotations, createdAt, data, role, ...rest } = old
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content))
    throw wrong(old, 'its content is neither a text nor a list of parts', '$.content')
  const listed = Array.isArray(parts) && parts.length > 0 ? parts : Array.isArray(content) ? content : undefined
  const path = listed === parts ? '$.parts' : '$.content'
  const made: AnyPart[] = listed
    ? listed.flatMap((part, i) => convertPart(old, part, `${path}[${i}]`))
    : [
        ...(typeof reasoning === 'string' && reasoning !== '' ? [{ type: 'reasoning', text: reasoning, state: 'done' }] : []),
        ...objectsIn(old, toolInvocations, '$.toolInvocations').map(convertCall),
        ...(typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []),
      ]
  for (const file of objectsIn(old, files, '$.experimental_attachments'))
    made.push({
      type: 'file',
      mediaType: file.contentType ?? 'application/octet-stream',
      url: file.url,
      ...(file.name && { filename: file.name }),
    })
  if (data !== undefined && data !== null) made.push({ type: 'data-message', data })
  // A message without any content has one empty text, so that it stays in its place.
  if (made.length === 0) made.push({ type: 'text', text: '' })
  if (createdAt instanceof Date && Number.isNaN(createdAt.getTime())) throw wrong(old, 'it was created at no time', '$.createdAt')
  const time = createdAt instanceof Date ? createdAt.toISOString() : createdAt
  const metadata = { ...rest.metadata, ...(time !== undefined && { createdAt: time }), ...(annotations !== undefined && { annotations }) }
  return { ...rest, role: role === 'data' ? 'assistant' : role, ...(Object.keys(metadata).length > 0 && { metadata }), parts: made }
}

/** The members of a list, each of which must be an object. */
function objectsIn(old: Old, given: unknown, path: string): readonly Old[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) throw wrong(old, 'it is not a list', path)
  return given.map((one, i) => objectAt(old, one, `${path}[${i}]`))
}

function objectAt(old: Old, given: unknown, path: string): Old {
  if (isObject(given)) return given
  throw wrong(old, 'it is not an object', path)
}

const wrong = ({ id }: Old, why: string, path: string) =>
  refuse('MESSAGE_INVALID', { message: typeof id === 'string' ? id.slice(0, 80) : null, why, path })

function convertPart(old: Old, given: unknown, path: string): readonly AnyPart[] {
  if (typeof given === 'string') return [{ type: 'text', text: given }]
  const part = objectAt(old, given, path)
  switch (part.type) {
    case 'reasoning':
      return reasoningParts(part, objectsIn(old, part.details, `${path}.details`))
    case 'redacted-reasoning':
      return [redacted(part)]
    case 'tool-invocation':
      return [convertCall(objectAt(old, part.toolInvocation, `${path}.toolInvocation`))]
    case 'tool-call':
      return [
        { type: `tool-${part.toolName}`, toolCallId: part.toolCallId, state: 'input-available', input: part.args ?? part.input ?? {} },
      ]
    case 'source': {
      const { id, url, title, providerMetadata } = part.source === undefined ? part : objectAt(old, part.source, `${path}.source`)
      return [{ type: 'source-url', sourceId: id, url, ...(title && { title }), ...(providerMetadata && { providerMetadata }) }]
    }
    case 'image':
      return [{ type: 'file', mediaType: part.mimeType ?? 'image/*', url: dataUrl(part.image, part.mimeType ?? 'image/png') }]
    case 'file': {
      if (part.url !== undefined) return [part as AnyPart]
      const mediaType = part.mimeType ?? part.mediaType ?? 'application/octet-stream'
      return [{ type: 'file', mediaType, url: dataUrl(part.data, mediaType), ...(part.filename && { filename: part.filename }) }]
    }
    default:
      return [part as AnyPart]
  }
}

/** One part for each detail, because a signature belongs to its own text. */
function reasoningParts(part: Old, details: readonly Old[]): readonly AnyPart[] {
  return (details.length > 0 ? details : [part]).map((one) => {
    if (one.type === 'redacted') return redacted(one)
    const { text = one.reasoning ?? '', signature } = one
    return { type: 'reasoning', text, state: 'done', ...(signature && { providerMetadata: { anthropic: { signature } } }) }
  })
}

const redacted = ({ data }: Old): AnyPart => ({
  type: 'reasoning',
  text: '',
  state: 'done',
  providerMetadata: { anthropic: { redactedData: data } },
})

function convertCall({ toolName, toolCallId, state, args, result }: Old): AnyPart {
  const call = { type: `tool-${toolName}`, toolCallId }
  if (state === 'partial-call') return { ...call, state: 'input-streaming', ...(args !== undefined && { input: args }) }
  if (state !== 'result') return { ...call, state: 'input-available', input: args ?? {} }
  // A result without its arguments has no call; the check of the message refuses it.
  return { ...call, state: 'output-available', ...(args !== undefined && { input: args }), output: result ?? null }
}

/** The data are base64 already, bytes, or a URL. */
const dataUrl = (data: unknown, mediaType: string): string => {
  const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data
  const text = bytes instanceof Uint8Array ? base64(bytes) : String(data)
  return /^(?:https?|data|blob):/.test(text) ? text : `data:${mediaType};base64,${text}`
}

function addResults(converted: readonly unknown[], old: Old): void {
  const { id } = old
  for (const part of objectsIn(old, old.content, '$.content')) {
    if (part.type !== 'tool-result') continue
    const call = converted
      .flatMap((message) => (isObject(message) && Array.isArray(message.parts) ? message.parts.filter(isObject) : []) as AnyPart[])
      .findLast((one) => one.toolCallId === part.toolCallId && one.state === 'input-available')
    if (!call) throw refuse('TOOL_CALL_MISSING', { message: id ?? null, toolCallId: part.toolCallId })
    Object.assign(
      call,
      part.isError
        ? { state: 'output-error', errorText: typeof part.result === 'string' ? part.result : JSON.stringify(part.result ?? null) }
        : { state: 'output-available', output: part.result ?? null },
    )
  }
}
