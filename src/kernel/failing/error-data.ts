// Errors as data and back: what a program threw, with its stack and the chain of its causes, masked and bounded.

import { utf8Length } from '../../model/bytes.ts'
import type { Json } from '../../model/data.ts'
import { limits } from '../../model/limits.ts'
import type { ErrorData } from '../../model/run.ts'
import type { Scope } from '../wiring/scope.ts'
import { admit } from '../writing/draft.ts'

/** The first error is always kept with its name and message. Stacks and causes are left out once the limit in bytes is reached. */
export function errorData(scope: Scope, thrown: unknown): ErrorData {
  // A store with small payloads must still be able to record a failure.
  let left = Math.min(limits.errorBytes, Math.floor(scope.engine.payloadBytes / 4))
  const chain: ErrorData[] = []
  const seen = new Set<unknown>()
  for (let error = thrown; chain.length <= limits.errorCauses && !seen.has(error); error = causeOf(error)) {
    if (chain.length > 0 && error === undefined) break
    seen.add(error)
    const { stack, ...brief } = dataOf(scope, error)
    const size = utf8Length(JSON.stringify(brief))
    if (chain.length > 0 && size > left) break
    left -= size
    const fits = stack !== undefined && utf8Length(stack) <= left
    if (fits) left -= utf8Length(stack)
    const { name, message, ...more } = brief
    chain.push({ name, message, ...(fits && { stack }), ...more })
  }
  return chain.reduceRight((cause, data) => ({ ...data, cause }))
}

/** The same error without its stack and causes, for places where it stands beside the full one. */
export const briefError = ({ stack: _, cause: __, ...brief }: ErrorData): Omit<ErrorData, 'stack' | 'cause'> => brief

/** An error to throw or to give as a cause. Its stack is the recorded one: where the program threw it, in whatever process that was. */
export function errorOf({ name, message, stack, cause, ...more }: ErrorData): Error {
  const error = new Error(message, cause && { cause: errorOf(cause) })
  const hidden = (value: unknown) => ({ value, configurable: true, writable: true })
  Object.defineProperties(error, { name: hidden(name), stack: hidden(stack ?? `${name}: ${message}`) })
  return Object.assign(error, more)
}

/** An `AggregateError` has no cause: Node throws one if no address of a host answers. Its first error says why. */
function causeOf(error: unknown): unknown {
  const errors = member(error, 'errors')
  return member(error, 'cause') ?? (Array.isArray(errors) ? errors[0] : undefined)
}

/** Undefined also if reading the member throws: a program may throw anything. */
export function member(thrown: unknown, name: string): unknown {
  try {
    return typeof thrown === 'object' && thrown !== null ? (thrown as Record<string, unknown>)[name] : undefined
  } catch {
    return undefined
  }
}

function dataOf(scope: Scope, thrown: unknown): ErrorData {
  const told = (name: string): string | undefined => {
    const value = member(thrown, name)
    return typeof value === 'string' ? value : undefined
  }
  // The text is masked before it is cut: half a secret would not be recognised.
  const masked = (text: string): string => String(admit(scope, text.toWellFormed()))
  const whole = masked(told('message') || instead(scope, thrown))
  const message = cut(whole, limits.errorChars)
  const [stack, code, details] = [told('stack'), told('code'), plain(scope, member(thrown, 'details'))]
  return {
    name: cut(masked(told('name') ?? 'Error'), limits.errorNameChars),
    message,
    ...(stack && { stack: stackText(masked(stack), whole, message) }),
    ...(code !== undefined && { code: cut(masked(code), limits.errorNameChars) }),
    ...(details !== undefined && { details }),
  }
}

/**
 * A stack begins with the message. A long message is cut there, so that frames are left. Both texts are masked: parts of a stack would hide what
 * is secret, and the message may be another one than that of the stack, if the program changed it.
 */
function stackText(stack: string, whole: string, message: string): string {
  const at = whole === '' ? -1 : stack.slice(0, limits.errorNameChars + whole.length).indexOf(whole)
  const [before, shown, frames] = at < 0 ? ['', '', stack] : [stack.slice(0, at), message, stack.slice(at + whole.length)]
  return cut(`${before}${cut(shown, limits.errorStackChars / 4)}${ownFrames(frames)}`, limits.errorStackChars)
}

/** Frames inside Node tell nothing, and they differ with the turn of the event loop: the same program would write another journal. */
const ownFrames = (frames: string): string =>
  frames
    .split('\n')
    .filter((line) => !INTERNAL.test(line))
    .join('\n')

const INTERNAL = /^ *at (?:[^(]{0,200} \()?node:/

// A cut in the middle of a surrogate pair would leave invalid text.
const cut = (text: string, chars: number): string => (text.length <= chars ? text : text.slice(0, chars).toWellFormed())

/** The message of what has none: that of the first error of several, the JSON of a plain object, or a text. */
function instead(scope: Scope, thrown: unknown): string {
  if (thrown instanceof Error) {
    const first = member(causeOf(thrown), 'message')
    return typeof first === 'string' ? first : ''
  }
  const json = typeof thrown === 'object' && thrown !== null ? plain(scope, thrown) : undefined
  return json === undefined ? shown(thrown) : JSON.stringify(json)
}

function shown(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    // The value has no prototype, or its `toString` throws.
    return 'something that cannot be shown was thrown'
  }
}

function plain(scope: Scope, details: unknown): Json | undefined {
  if (details === undefined) return undefined
  try {
    const admitted = admit(scope, details)
    return JSON.stringify(admitted).length <= limits.errorChars ? admitted : undefined
  } catch {
    // Details that cannot be recorded are left out; the message is always kept.
    return undefined
  }
}
