// Converts messages of AI SDK 4 into today's: `content`, `toolInvocations`, attachments and the parts of that version. Others stay as they are.

import { refuse } from '../../model/errors.ts'
import type { MessagePart } from './check-message.ts'

// biome-ignore lint/suspicious/noExplicitAny: messages of older versions have many shapes
type Old = { readonly [member: string]: any }

/** Results of tools that stand in messages of their own (`role: 'tool'`) go to the call that they belong to. */
export function convertMessages(given: readonly unknown[]): readonly unknown[] {
  const converted: Old[] = []
  for (const one of given) {
    const old = one as Old
    if (typeof old !== 'object' || old === null) converted.push(old)
    else if (old.role === 'tool') addResults(converted, old)
    else converted.push(isOld(old) ? convert(old) : old)
  }
  return converted
}

const OLD_PARTS = ['tool-invocation', 'source', 'tool-call', 'image', 'redacted-reasoning']
const isOld = ({ parts, content, toolInvocations }: Old): boolean =>
  !Array.isArray(parts) || toolInvocations !== undefined || content !== undefined || parts.some(isOldPart)

const isOldPart = (part: Old): boolean =>
  OLD_PARTS.includes(part?.type) ||
  (part?.type === 'file' && part.url === undefined) ||
  (part?.type === 'reasoning' && part.text === undefined)

function convert(old: Old): Old {
  const { content, parts, toolInvocations, reasoning, experimental_attachments: files, annotations, createdAt, data, role, ...rest } = old
  const listed = Array.isArray(parts) && parts.length > 0 ? parts : Array.isArray(content) ? content : undefined
  const made: MessagePart[] = listed
    ? listed.flatMap(convertPart)
    : [
        ...(typeof reasoning === 'string' && reasoning !== '' ? [{ type: 'reasoning', text: reasoning, state: 'done' }] : []),
        ...((toolInvocations ?? []) as readonly Old[]).map(convertCall),
        ...(typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []),
      ]
  for (const file of (files ?? []) as readonly Old[])
    made.push({
      type: 'file',
      mediaType: file.contentType ?? 'application/octet-stream',
      url: file.url,
      ...(file.name && { filename: file.name }),
    })
  if (data !== undefined && data !== null) made.push({ type: 'data-message', data })
  // A message without any content has one empty text, so that it stays in its place.
  if (made.length === 0) made.push({ type: 'text', text: '' })
  const time = createdAt instanceof Date ? createdAt.toISOString() : createdAt
  const metadata = { ...rest.metadata, ...(time !== undefined && { createdAt: time }), ...(annotations !== undefined && { annotations }) }
  return { ...rest, role: role === 'data' ? 'assistant' : role, ...(Object.keys(metadata).length > 0 && { metadata }), parts: made }
}

function convertPart(part: Old | string): readonly MessagePart[] {
  if (typeof part === 'string') return [{ type: 'text', text: part }]
  switch (part.type) {
    case 'reasoning':
      return reasoningParts(part)
    case 'redacted-reasoning':
      return [redacted(part)]
    case 'tool-invocation':
      return [convertCall(part.toolInvocation)]
    case 'tool-call':
      return [
        { type: `tool-${part.toolName}`, toolCallId: part.toolCallId, state: 'input-available', input: part.args ?? part.input ?? {} },
      ]
    case 'source': {
      const { id, url, title, providerMetadata } = part.source ?? part
      return [{ type: 'source-url', sourceId: id, url, ...(title && { title }), ...(providerMetadata && { providerMetadata }) }]
    }
    case 'image':
      return [{ type: 'file', mediaType: part.mimeType ?? 'image/*', url: dataUrl(part.image, part.mimeType ?? 'image/png') }]
    case 'file': {
      if (part.url !== undefined) return [part as MessagePart]
      const mediaType = part.mimeType ?? part.mediaType ?? 'application/octet-stream'
      return [{ type: 'file', mediaType, url: dataUrl(part.data, mediaType), ...(part.filename && { filename: part.filename }) }]
    }
    default:
      return [part as MessagePart]
  }
}

/** One part for each detail, because a signature belongs to its own text. */
function reasoningParts(part: Old): readonly MessagePart[] {
  const details: readonly Old[] = Array.isArray(part.details) && part.details.length > 0 ? part.details : [part]
  return details.map((one) => {
    if (one.type === 'redacted') return redacted(one)
    const { text = one.reasoning ?? '', signature } = one
    return { type: 'reasoning', text, state: 'done', ...(signature && { providerMetadata: { anthropic: { signature } } }) }
  })
}

const redacted = ({ data }: Old): MessagePart => ({
  type: 'reasoning',
  text: '',
  state: 'done',
  providerMetadata: { anthropic: { redactedData: data } },
})

function convertCall({ toolName, toolCallId, state, args, result }: Old): MessagePart {
  const call = { type: `tool-${toolName}`, toolCallId }
  if (state === 'partial-call') return { ...call, state: 'input-streaming', ...(args !== undefined && { input: args }) }
  if (state !== 'result') return { ...call, state: 'input-available', input: args ?? {} }
  // A result without its arguments has no call; the check of the message refuses it.
  return { ...call, state: 'output-available', ...(args !== undefined && { input: args }), output: result ?? null }
}

const dataUrl = (data: unknown, mediaType: string): string => {
  const text = String(data)
  return /^(?:https?|data|blob):/.test(text) ? text : `data:${mediaType};base64,${text}`
}

function addResults(converted: readonly Old[], { id, content }: Old): void {
  for (const part of (Array.isArray(content) ? content : []) as readonly Old[]) {
    if (part.type !== 'tool-result') continue
    const call = converted
      .flatMap(({ parts }) => (Array.isArray(parts) ? parts : []) as MessagePart[])
      .findLast((one) => one.toolCallId === part.toolCallId && one.state === 'input-available')
    if (!call) throw refuse('TOOL_CALL_MISSING', { message: id ?? null, toolCallId: part.toolCallId })
    Object.assign(
      call,
      part.isError ? { state: 'output-error', errorText: String(part.result) } : { state: 'output-available', output: part.result ?? null },
    )
  }
}
