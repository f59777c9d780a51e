// Checks the members of a chunk before it is folded, so that a wrong one is refused by itself and does not spoil the message. Nothing is known of
// the members of a chunk whose type is unknown.

interface Chunk {
  readonly type: string
  readonly [member: string]: unknown
}

const PART = ['id']
const CALL = ['toolCallId']

/** Members that must be texts, by the type of the chunk. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  'text-start': PART,
  'text-delta': ['id', 'delta'],
  'text-end': PART,
  'reasoning-start': PART,
  'reasoning-delta': ['id', 'delta'],
  'reasoning-end': PART,
  custom: ['kind'],
  'source-url': ['sourceId', 'url'],
  'source-document': ['sourceId', 'mediaType', 'title'],
  file: ['mediaType', 'url'],
  'reasoning-file': ['mediaType', 'url'],
  'steering-message': PART,
  'tool-input-start': ['toolCallId', 'toolName'],
  'tool-input-delta': ['toolCallId', 'inputTextDelta'],
  'tool-input-available': ['toolCallId', 'toolName'],
  'tool-input-error': ['toolCallId', 'toolName', 'errorText'],
  'tool-approval-request': ['toolCallId', 'approvalId'],
  'tool-approval-response': ['approvalId'],
  'tool-output-available': CALL,
  'tool-output-error': ['toolCallId', 'errorText'],
  'tool-output-denied': CALL,
}

/** Chunks about the message, without texts that they must have. */
const OTHERS: readonly string[] = ['start', 'finish', 'message-metadata', 'start-step', 'finish-step', 'reset-step', 'abort', 'error']

export const isKnownChunk = (type: string): boolean => Object.hasOwn(TEXTS, type) || type.startsWith('data-') || OTHERS.includes(type)

/** The reason why a chunk cannot be folded; undefined if it can. */
export function flawOf(chunk: Chunk): string | undefined {
  const { type } = chunk
  const texts = Object.hasOwn(TEXTS, type) ? TEXTS[type] : undefined
  const missing = texts?.find((name) => typeof chunk[name] !== 'string')
  if (missing !== undefined) return `it has no text \`${missing}\``
  if (type === 'tool-approval-response' && typeof chunk.approved !== 'boolean') return '`approved` is not true or false'
  if (type === 'steering-message' && !Array.isArray(chunk.parts)) return 'it has no `parts`'
  if (type.startsWith('data-') && chunk.id !== undefined && typeof chunk.id !== 'string') return 'its `id` is not a text'
  return undefined
}
