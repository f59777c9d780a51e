// Checks that a value is a UI message of the AI SDK. Unknown members are kept; a part of an unknown type is refused.

import { type Json, takeExact } from '../../model/data.ts'
import { type InkError, refuse } from '../../model/errors.ts'
import { MESSAGE_ROLES, type MessageRole } from '../../model/thread.ts'
import { telling } from '../draft.ts'
import type { Scope } from '../scope.ts'
import { partsIn } from '../values/parts.ts'

/** A message of the AI SDK: `UIMessage`. Members that are not listed are kept as they are. */
export interface StoredMessage {
  readonly id: string
  readonly role: MessageRole
  readonly parts: readonly MessagePart[]
  readonly metadata?: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: parts have many shapes, and applications add their own members
export type MessagePart = { readonly type: string; readonly [member: string]: any }

type JsonObject = { readonly [key: string]: Json }
type Flaw = (why: string, path: string) => InkError

export const TOOL_STATES = [
  ...['input-streaming', 'input-available', 'approval-requested', 'approval-responded'],
  ...['output-available', 'output-error', 'output-denied'],
]
const ENDED: readonly unknown[] = ['output-available', 'output-error', 'output-denied']

/** Texts that a part of each type must have. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  'source-url': ['sourceId', 'url'],
  'source-document': ['sourceId', 'mediaType', 'title'],
  file: ['mediaType', 'url'],
  'reasoning-file': ['mediaType', 'url'],
  'step-start': [],
  custom: ['kind'],
  'steering-message': ['id'],
}

/**
 * Copies a message while checking it. Members that are undefined are left out, as in JSON text. The parts of a message that is being streamed
 * are what its chunks made of them: each chunk was checked, and a part may still be incomplete.
 */
export function takeMessage(scope: Scope, given: unknown, streamed = false): StoredMessage & JsonObject {
  const taken = telling(scope, () => takeExact(withoutUndefined(given, 0)))
  const id = isObject(taken) ? taken.id : undefined
  const flaw: Flaw = (why, path) => refuse('MESSAGE_INVALID', { message: typeof id === 'string' ? id.slice(0, 80) : null, why, path })
  return telling(scope, () => {
    if (!isObject(taken)) throw flaw('it is not an object', '$')
    if (typeof id !== 'string' || id === '') throw flaw('it has no id', '$.id')
    if (!(MESSAGE_ROLES as readonly unknown[]).includes(taken.role)) throw flaw(`its role is not ${MESSAGE_ROLES.join(', ')}`, '$.role')
    if (!Array.isArray(taken.parts)) throw flaw('it has no parts', '$.parts')
    // An answer that ended before its first part is one; nobody asks without saying something.
    if (taken.parts.length === 0 && taken.role !== 'assistant') throw flaw('it has no parts', '$.parts')
    if (partsIn(taken).length > 0) throw flaw('it contains a part of a stored value', '$')
    if (!streamed)
      taken.parts.forEach((part: Json, i) => {
        checkPart(id, part, `$.parts[${i}]`, flaw)
      })
    return taken as unknown as StoredMessage & JsonObject
  })
}

function checkPart(message: string, part: Json, path: string, flaw: Flaw): void {
  if (!isObject(part) || typeof part.type !== 'string') throw flaw('a part has no type', path)
  const { type } = part
  const texts = Object.hasOwn(TEXTS, type) ? TEXTS[type] : undefined
  if (texts) for (const name of texts) if (typeof part[name] !== 'string') throw flaw(`the ${type} part has no text \`${name}\``, path)
  if (type === 'custom' && !/^[^.]+\.[\s\S]*$/.test(part.kind as string))
    throw flaw('the kind of a custom part is `provider.type`', `${path}.kind`)
  if (type === 'steering-message') checkSteering(message, part, path, flaw)
  if (texts) return
  const isTool = type === 'dynamic-tool' || type.startsWith('tool-')
  if (isTool) checkTool(message, part, path, flaw)
  else checkData(part, type, path, flaw)
}

function checkData(part: JsonObject, type: string, path: string, flaw: Flaw): void {
  if (!type.startsWith('data-')) throw flaw(`the part has the unknown type ${JSON.stringify(type.slice(0, 80))}`, `${path}.type`)
  if (part.data === undefined) throw flaw('the data part has no `data`', path)
  if (part.id !== undefined && typeof part.id !== 'string') throw flaw('the id of a data part is a text', `${path}.id`)
}

function checkSteering(message: string, { parts }: JsonObject, path: string, flaw: Flaw): void {
  if (!Array.isArray(parts)) throw flaw('the steering message has no parts', `${path}.parts`)
  parts.forEach((part: Json, i) => {
    if (!isObject(part) || (part.type !== 'text' && part.type !== 'file'))
      throw flaw('a steering message holds texts and files', `${path}.parts[${i}]`)
    checkPart(message, part, `${path}.parts[${i}]`, flaw)
  })
}

function checkTool(message: string, part: JsonObject, path: string, flaw: Flaw): void {
  const { type, state, toolCallId, approval } = part
  if (typeof toolCallId !== 'string' || toolCallId === '') {
    if (ENDED.includes(state)) throw refuse('TOOL_CALL_MISSING', { message, toolCallId: null })
    throw flaw('the tool part has no `toolCallId`', path)
  }
  if (type === 'dynamic-tool' && typeof part.toolName !== 'string') throw flaw('the tool part has no `toolName`', path)
  if (typeof state !== 'string' || !TOOL_STATES.includes(state)) throw flaw('the tool part has an unknown state', `${path}.state`)
  // An output without the input is the result of a call that is not there. A call whose input could not be read has an error instead.
  if ((state === 'output-available' || state === 'output-denied') && part.input === undefined)
    throw refuse('TOOL_CALL_MISSING', { message, toolCallId })
  if (['input-available', 'approval-requested', 'approval-responded'].includes(state) && part.input === undefined)
    throw flaw('the tool call has no `input`', path)
  if (state === 'output-available' && part.output === undefined) throw flaw('the tool result has no `output`', path)
  if (state === 'output-error' && typeof part.errorText !== 'string') throw flaw('the tool error has no text `errorText`', path)
  const asked = state.startsWith('approval-') || state === 'output-denied'
  if (asked && (!isObject(approval) || typeof approval.id !== 'string')) throw flaw('the tool part has no `approval.id`', path)
  if (state === 'approval-responded' && typeof (approval as JsonObject).approved !== 'boolean')
    throw flaw('the answer has no `approval.approved`', path)
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

const DEPTH = 600

/** The AI SDK leaves members undefined that JSON text leaves out. Returns the same reference if there is none. */
export function withoutUndefined(value: unknown, depth: number): unknown {
  // A cycle ends here; the check of the data refuses it.
  if (typeof value !== 'object' || value === null || depth > DEPTH) return value
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const item = withoutUndefined(value[i], depth + 1)
      if (item !== value[i]) copy ??= [...value]
      if (copy) copy[i] = item
    }
    return copy ?? value
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  let changed = false
  const entries = Object.entries(value).flatMap(([key, member]) => {
    const kept = withoutUndefined(member, depth + 1)
    changed ||= kept !== member || kept === undefined
    return kept === undefined ? [] : [[key, kept] as const]
  })
  return changed ? Object.fromEntries(entries) : value
}
