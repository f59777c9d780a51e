// Checks a part of a UI message as `validateUIMessages` of the AI SDK does, so that a stored thread passes it. Unknown members are kept, and so
// are parts of an unknown type.

import type { Json } from '../../../model/data.ts'
import { type InkError, refuse } from '../../../model/errors.ts'

export type JsonObject = { readonly [key: string]: Json }
export type Flaw = (why: string, path: string) => InkError

interface Where {
  readonly message: string
  readonly path: string
  readonly flaw: Flaw
}

type Check = readonly [what: string, is: (value: Json) => boolean]

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

const TEXT: Check = ['a text', (value) => typeof value === 'string']
const FLAG: Check = ['true or false', (value) => typeof value === 'boolean']
const OBJECT: Check = ['an object', isObject]
const METADATA: Check = ['an object of objects', (value) => isObject(value) && Object.values(value).every(isObject)]
const REFERENCE: Check = ['an object of texts', (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string')]
const LIST: Check = ['a list of objects', (value) => Array.isArray(value) && value.every(isObject)]
const PROGRESS: Check = ['streaming or done', (value) => value === 'streaming' || value === 'done']
const ENCODING: Check = ['json or text', (value) => value === 'json' || value === 'text']
const FALSE: Check = ['false', (value) => value === false]

type Members = { readonly [member: string]: Check }

const METADATA_ONLY: Members = { providerMetadata: METADATA }

/** By type: the texts that a part must have, and the members that it may have. */
const PARTS: Readonly<Record<string, readonly [must: readonly string[], may: Members]>> = {
  text: [['text'], { state: PROGRESS, citations: LIST, providerMetadata: METADATA }],
  reasoning: [['text'], { id: TEXT, state: PROGRESS, providerMetadata: METADATA }],
  'source-url': [['sourceId', 'url'], { title: TEXT, providerMetadata: METADATA }],
  'source-document': [['sourceId', 'mediaType', 'title'], { filename: TEXT, providerMetadata: METADATA }],
  file: [['mediaType', 'url'], { filename: TEXT, providerReference: REFERENCE, providerMetadata: METADATA }],
  'reasoning-file': [['mediaType', 'url'], METADATA_ONLY],
  'step-start': [[], {}],
  custom: [['kind'], METADATA_ONLY],
  'steering-message': [['id'], {}],
}

const TOOL: Members = { title: TEXT, toolMetadata: OBJECT, providerExecuted: FLAG, callProviderMetadata: METADATA }
const RESULT: Members = { resultProviderMetadata: METADATA }
const APPROVAL: Members = { requestReason: TEXT, isAutomatic: FLAG, signature: TEXT }

interface ToolState {
  readonly may?: Members
  /** The members without which the state says nothing. */
  readonly has: readonly ('input' | 'output' | 'errorText' | 'approval')[]
  /** Members that another state has. */
  readonly lacks: readonly ('output' | 'errorText' | 'approval')[]
  /** The answer that the question for approval has, if there is one. */
  readonly approved?: boolean
}

const STATES: Readonly<Record<string, ToolState>> = {
  'input-streaming': { may: { rawInput: TEXT, inputEncoding: ENCODING }, has: [], lacks: ['output', 'errorText', 'approval'] },
  'input-available': { has: ['input'], lacks: ['output', 'errorText', 'approval'] },
  'approval-requested': { has: ['input', 'approval'], lacks: ['output', 'errorText'] },
  'approval-responded': { has: ['input', 'approval'], lacks: ['output', 'errorText'] },
  'output-available': { may: { ...RESULT, preliminary: FLAG }, has: ['input', 'output'], lacks: ['errorText'], approved: true },
  'output-error': { may: RESULT, has: ['errorText'], lacks: ['output'], approved: true },
  'output-denied': { has: ['input', 'approval'], lacks: ['output', 'errorText'], approved: false },
}
const ENDED: readonly unknown[] = ['output-available', 'output-error', 'output-denied']

/** Parts of tools have the name of the tool in their type. */
export const isTool = ({ type }: { readonly type?: unknown }): boolean =>
  typeof type === 'string' && (type === 'dynamic-tool' || type.startsWith('tool-'))

/** A text or a reasoning, which may come in pieces. */
export const isText = ({ type }: { readonly type?: unknown }): boolean => type === 'text' || type === 'reasoning'

/** Whether this version knows what parts of this type have. */
export const isKnownType = (type: string): boolean => Object.hasOwn(PARTS, type) || isTool({ type }) || type.startsWith('data-')

/** The members that say what a part is about; those beside them say how it came. */
export function contentOf(type: string): readonly string[] {
  if (type.startsWith('data-')) return ['id', 'data']
  const [must, may] = (Object.hasOwn(PARTS, type) && PARTS[type]) || [[], {}]
  const more = type === 'steering-message' ? ['parts'] : []
  return [...must, ...Object.keys(may).filter((name) => !BESIDE.includes(name)), ...more]
}
const BESIDE: readonly string[] = ['state', 'citations', 'providerMetadata']

/** The members of any value that a part of this type and state must have. */
export function neededBy({ type, state }: JsonObject): readonly string[] {
  if (typeof type !== 'string') return []
  if (type.startsWith('data-')) return ['data']
  const hasState = isTool({ type }) && typeof state === 'string' && Object.hasOwn(STATES, state)
  return (hasState ? (STATES[state]?.has ?? []) : []).filter((name) => name === 'input' || name === 'output')
}

/** The members that a part of a tool has, and that its state must not have. */
export const lackedBy = (part: JsonObject): readonly string[] =>
  (typeof part.state === 'string' && Object.hasOwn(STATES, part.state) ? (STATES[part.state]?.lacks ?? []) : []).filter(
    (name) => part[name] !== undefined,
  )

export function checkPart(message: string, part: Json, path: string, flaw: Flaw): void {
  const where = { message, path, flaw }
  if (!isObject(part) || typeof part.type !== 'string' || part.type === '') throw flaw('a part has no type', path)
  const { type } = part
  const known = Object.hasOwn(PARTS, type) ? PARTS[type] : undefined
  if (known) {
    const [must, may] = known
    for (const name of must) if (typeof part[name] !== 'string') throw flaw(`the ${type} part has no text \`${name}\``, path)
    checkMembers(part, may, where)
    if (type === 'steering-message') checkSteering(part, where)
  } else if (isTool(part)) checkTool(part, where)
  else if (type.startsWith('data-')) checkData(part, where)
}

function checkMembers(part: JsonObject, members: Members, { path, flaw }: Where): void {
  for (const [name, [what, is]] of Object.entries(members)) {
    const value = part[name]
    if (value !== undefined && !is(value)) throw flaw(`\`${name}\` is not ${what}`, `${path}.${name}`)
  }
}

function checkData(part: JsonObject, { path, flaw }: Where): void {
  if (part.data === undefined) throw flaw('the data part has no `data`', path)
  if (part.id !== undefined && typeof part.id !== 'string') throw flaw('the id of a data part is a text', `${path}.id`)
}

function checkSteering({ parts }: JsonObject, { message, path, flaw }: Where): void {
  if (!Array.isArray(parts)) throw flaw('the steering message has no parts', `${path}.parts`)
  parts.forEach((part: Json, i) => {
    if (!isObject(part) || (part.type !== 'text' && part.type !== 'file'))
      throw flaw('a steering message holds texts and files', `${path}.parts[${i}]`)
    checkPart(message, part, `${path}.parts[${i}]`, flaw)
  })
}

function checkTool(part: JsonObject, where: Where): void {
  const { message, path, flaw } = where
  const { type, state, toolCallId } = part
  if (typeof toolCallId !== 'string' || toolCallId === '') {
    if (ENDED.includes(state)) throw refuse('TOOL_CALL_MISSING', { message, toolCallId: null })
    throw flaw('the tool part has no `toolCallId`', path)
  }
  if (type === 'dynamic-tool' && typeof part.toolName !== 'string') throw flaw('the tool part has no `toolName`', path)
  const known = typeof state === 'string' && Object.hasOwn(STATES, state) ? STATES[state] : undefined
  if (!known) throw flaw('the tool part has an unknown state', `${path}.state`)
  // An output without the input is the result of a call that is not there. A call whose input could not be read has an error instead.
  if ((state === 'output-available' || state === 'output-denied') && part.input === undefined)
    throw refuse('TOOL_CALL_MISSING', { message, toolCallId })
  for (const name of known.has) if (part[name] === undefined) throw flaw(`a tool part in the state ${state} has no \`${name}\``, path)
  for (const name of known.lacks)
    if (part[name] !== undefined) throw flaw(`a tool part in the state ${state} has \`${name}\``, `${path}.${name}`)
  if (part.errorText !== undefined && typeof part.errorText !== 'string') throw flaw('`errorText` is not a text', `${path}.errorText`)
  checkMembers(part, { ...TOOL, ...known.may, ...(type === 'dynamic-tool' && { dynamic: FALSE }) }, where)
  if (part.approval !== undefined) checkApproval(part.approval, String(state), known.approved, { message, path: `${path}.approval`, flaw })
}

function checkApproval(approval: Json, state: string, answer: boolean | undefined, where: Where): void {
  const { path, flaw } = where
  if (!isObject(approval) || typeof approval.id !== 'string') throw flaw('the tool part has no `approval.id`', path)
  checkMembers(approval, { ...APPROVAL, reason: TEXT }, where)
  const { approved } = approval
  if (state === 'approval-requested') {
    if (approved !== undefined || approval.reason !== undefined) throw flaw('a question that is open has an answer', path)
  } else if (typeof approved !== 'boolean') throw flaw('the answer has no `approval.approved`', path)
  else if (answer !== undefined && approved !== answer)
    throw flaw(`\`approval.approved\` is not ${answer} in the state ${state}`, `${path}.approved`)
}
