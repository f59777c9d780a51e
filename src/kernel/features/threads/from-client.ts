// Messages that a client sends, such as a browser. It is believed what a person says, and nothing about what the program did: messages of the
// assistant are compared with the stored ones and not written, except for the results of tools that run in the client.

import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { jsonEqual } from '../../../model/json-equal.ts'
import { limits } from '../../../model/limits.ts'
import { invalidOption } from '../../../model/options.ts'
import type { MessageRow, ThreadId } from '../../../model/thread.ts'
import { maskKey } from '../../naming/names.ts'
import type { Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { type DoneRow, readRow } from '../../writing/execute.ts'
import { takeMessage } from './check-message.ts'
import { contentOf, isKnownType, isObject, isText, isTool } from './check-part.ts'
import { readMessage } from './linked-approvals.ts'
import { messageRowId } from './plan-messages.ts'
import type { AnyMessage, AnyPart } from './stored-message.ts'
import { checkMessageRow } from './stored-rows.ts'

export interface FromClient {
  /** The messages to write, masked. */
  readonly messages: readonly AnyMessage[]
  /** The row of each message to write, as it was compared. */
  readonly seen: readonly DoneRow<MessageRow>[]
  /** The ids of all messages that were sent, each with the revision of a row that stays as it is. */
  readonly ids: readonly { readonly id: string; readonly kept?: number }[]
}

interface Place {
  readonly session: SessionId
  readonly thread: ThreadId
}

export interface Rules {
  /** Names of tools that run in the client. */
  readonly tools: readonly string[]
  readonly redact: boolean
}

export async function takeFromClient(scope: Scope, place: Place, given: readonly unknown[], rules: Rules): Promise<FromClient> {
  if (given.length > limits.messagesAtOnce) throw invalidOption('messages', `at most ${limits.messagesAtOnce} messages`, `${given.length}`)
  const looked = await Promise.all(given.map((one) => look(scope, place, one, rules))).catch((error: unknown) => {
    scope.engine.audit.note(scope.tenant, scope.actor, error)
    throw error
  })
  const written = looked.filter(({ message }) => message !== undefined)
  return {
    messages: written.map(({ message }) => message as AnyMessage),
    seen: written.map(({ row }) => row),
    ids: looked.map(({ id, row, message }) => ({ id, ...(!message && { kept: row.revision }) })),
  }
}

interface Looked {
  readonly id: string
  readonly row: DoneRow<MessageRow>
  /** Absent: the stored message stays as it is. */
  readonly message?: AnyMessage
}

async function look(scope: Scope, { session, thread }: Place, one: unknown, { tools, redact }: Rules): Promise<Looked> {
  const given = takeMessage(scope, one, true)
  const id = maskKey(scope, given.id)
  const { redactor } = scope.engine
  const masked = (redactor?.value(given) ?? given) as AnyMessage
  const row = await readRow(scope, 'messages', messageRowId(scope, session, id))
  const stored = row.body && checkMessageRow(row.body)
  if (stored && stored.thread !== thread) throw refuse('MESSAGE_ELSEWHERE', { thread, message: id, found: stored.thread })
  if (stored && !stored.content) throw refuse('MESSAGE_ERASED', { message: id })
  const before = stored?.content && (await readMessage(scope, session, stored.content))
  const shown = redact ? masked : given
  return telling(scope, () => {
    const compared = new Comparison(given, masked, before, stored?.record?.interrupted === true)
    const message = given.role === 'user' ? compared.said(shown, stored?.hidden === true) : compared.answer(shown, tools)
    // A message that the program removed stays removed.
    return { id, row, ...(message && !stored?.hidden && { message }) }
  })
}

/** The states of a tool call in their order. */
const RANKS: Readonly<Record<string, number>> = {
  'input-streaming': 0,
  'input-available': 1,
  'approval-requested': 2,
  'approval-responded': 3,
  'output-available': 4,
  'output-error': 4,
  'output-denied': 4,
}
const ENDED = 4
const rankOf = (state: unknown): number | undefined => (typeof state === 'string' && Object.hasOwn(RANKS, state) ? RANKS[state] : undefined)

const nameOf = ({ type, toolName }: AnyPart): string => (type === 'dynamic-tool' ? String(toolName) : type.slice('tool-'.length))

/** One message of a client beside the stored one with its id. A member is the same if it equals the stored one, as given or masked. */
class Comparison {
  readonly #given: AnyMessage
  readonly #masked: AnyMessage
  readonly #stored: AnyMessage | undefined
  /** The answer was cut off, so the client may have seen more of it than the store has. */
  readonly #isCut: boolean

  constructor(given: AnyMessage, masked: AnyMessage, stored: AnyMessage | undefined, isCut: boolean) {
    this.#given = given
    this.#masked = masked
    this.#stored = stored
    this.#isCut = isCut
    if (stored && stored.role !== given.role) throw this.#forged(`its role is ${stored.role} in the store`, '$.role')
  }

  /** The message of a person as it is to be stored; undefined if it is stored already. */
  said(shown: AnyMessage, isRemoved: boolean): AnyMessage | undefined {
    if (this.#stored && [this.#given, this.#masked].some((one) => jsonEqual(one, this.#stored))) return undefined
    if (isRemoved) throw this.#forged('it was removed, and is another one in the store', '$')
    this.#given.parts.forEach((part, i) => {
      const type: unknown = isObject(part) ? part.type : undefined
      if (typeof type === 'string' && type !== 'text' && type !== 'file' && !type.startsWith('data-'))
        throw this.#forged(`a person sends parts of the types text, file and data-…, and not ${JSON.stringify(type.slice(0, 80))}`, at(i))
    })
    return shown
  }

  /** The stored message with results of the client's tools; undefined if there are none. Every part must be in the store, in its order. */
  answer(shown: AnyMessage, tools: readonly string[]): AnyMessage | undefined {
    const stored = this.#stored
    if (!stored) throw this.#forged(`a client adds no message of the role ${this.#given.role}`, '$.role')
    const parts = [...stored.parts]
    let next = 0
    const find = (is: (part: AnyPart) => boolean): number => {
      while (next < parts.length && !is(parts[next] as AnyPart)) next++
      return next < parts.length ? next++ : -1
    }
    this.#given.parts.forEach((part, i) => {
      if (!isObject(part) || typeof part.type !== 'string') throw this.#forged('it is no part', at(i))
      // Nothing is known of it, so nothing is believed either.
      if (!isKnownType(part.type)) return
      const either = [part, this.#masked.parts[i]] as readonly AnyPart[]
      if (!isTool(part)) {
        if (find((one) => this.#isSame(either, one, next === parts.length - 1)) < 0)
          throw this.#forged(`the stored message has no such ${part.type} part there`, at(i))
        return
      }
      const found = find((one) => either.some((same) => isTool(one) && one.toolCallId === same.toolCallId))
      if (found < 0) throw this.#forged('the store knows no such tool call', at(i))
      const result = this.#call(either, parts[found] as AnyPart, shown.parts[i] as AnyPart, tools, at(i))
      if (result) parts[found] = result
    })
    return parts.every((part, i) => part === stored.parts[i]) ? undefined : { ...stored, parts }
  }

  #isSame(either: readonly AnyPart[], stored: AnyPart, isLast: boolean): boolean {
    if (!either.some(({ type }) => type === stored.type)) return false
    if (!isText(stored)) return contentOf(stored.type).every((name) => isEither(either, stored, name))
    const mayBeLonger = this.#isCut && isLast
    return either.some(
      ({ text }) => typeof text === 'string' && (stored.text.startsWith(text) || (mayBeLonger && text.startsWith(stored.text))),
    )
  }

  /** Compares a tool call. Returns it with its result if it ran in the client. */
  #call(either: readonly AnyPart[], stored: AnyPart, shown: AnyPart, tools: readonly string[], path: string): AnyPart | undefined {
    const [part] = either as readonly [AnyPart]
    const call = `tool call ${JSON.stringify(stored.toolCallId)}`
    const rank = rankOf(part.state)
    if (!either.some(({ type }) => type === stored.type) || !isEither(either, stored, 'toolName'))
      throw this.#forged(`${call} is of another tool in the store`, path)
    if (rank === undefined) throw this.#forged(`${call} has an unknown state`, path)
    if (rank > 0 && !isEither(either, stored, 'input')) throw this.#forged(`${call} has other arguments in the store`, path)
    if (part.approval !== undefined) this.#approval(either, stored, call, path)
    if (rank < ENDED) {
      if (rank > (rankOf(stored.state) ?? -1)) throw this.#forged(`${call} has not come so far in the store`, path)
      return undefined
    }
    const isKnown = part.state === stored.state && isEither(either, stored, 'output') && isEither(either, stored, 'errorText')
    if (isKnown || (part.state === 'output-denied' && stored.approval?.approved === false)) return undefined
    const isOpen = stored.state === 'input-available' || (stored.state === 'approval-responded' && stored.approval?.approved === true)
    if (!isOpen || part.state === 'output-denied') throw this.#forged(`${call} has another result in the store, or none`, path)
    if (!tools.includes(nameOf(stored)) || stored.providerExecuted === true)
      throw this.#forged(`${call} has no result in the store, and its tool is not one of \`clientTools\``, path)
    const { state, output = null, errorText } = shown
    return { ...stored, state, ...(state === 'output-available' ? { output } : { errorText }) }
  }

  #approval(either: readonly AnyPart[], stored: AnyPart, call: string, path: string): void {
    const [{ approval }] = either as readonly [AnyPart]
    const known = stored.approval
    if (!isObject(approval) || !known || !either.some((one) => one.approval?.id === known.id))
      throw this.#forged(`${call} has no such question for approval in the store`, path)
    if (approval.approved === undefined || approval.approved === known.approved) return
    const why = known.approved === undefined ? 'was not decided in the store' : 'was decided otherwise in the store'
    throw this.#forged(`the approval of ${call} ${why}`, path)
  }

  #forged(why: string, path: string) {
    return refuse('MESSAGE_FORGED', { message: this.#given.id, why, path })
  }
}

const at = (i: number): string => `$.parts[${i}]`

/** JSON has left out what was undefined, and the store has null where a part needs a value. */
const isEither = (either: readonly AnyPart[], stored: AnyPart, name: string): boolean =>
  either.some((one) => jsonEqual((one[name] ?? null) as Json, stored[name] ?? null))
