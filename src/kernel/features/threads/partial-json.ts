// Reads the beginning of a JSON text: the input of a tool while it streams. It gives the value that the text would have if it ended here.

import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'

/** Undefined if nothing can be read yet. A value with a member that could change a prototype is not shown at all. */
export function parsePartialJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = new PrefixReader(text).read()
  }
  return /proto|constructor|\\u/.test(text) && isForbidden(value) ? undefined : value
}

/** Refuses a value before anything walks it by calling itself for each level, because the stack would end in it. */
function checkDepth(depth: number): void {
  if (depth > limits.valueDepth)
    throw refuse('DATA_INVALID', { why: `more than ${limits.valueDepth} levels in the input of a tool call`, path: '$' })
}

function isForbidden(value: unknown, depth = 0): boolean {
  checkDepth(depth)
  if (typeof value !== 'object' || value === null) return false
  if (Object.hasOwn(value, '__proto__')) return true
  const made: unknown = Object.hasOwn(value, 'constructor') && value.constructor
  if (typeof made === 'object' && made !== null && Object.hasOwn(made, 'prototype')) return true
  return Object.values(value).some((member) => isForbidden(member, depth + 1))
}

/** No value begins here, or the text ends before one does. */
const NOTHING: unique symbol = Symbol('nothing')
class Unreadable extends Error {}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERALS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' }

/**
 * The AI SDK ends a key at its first quote, also an escaped one. A colon in the rest of the key is the end of the object to it, and it gives up
 * if the beginning of a value follows the colon.
 */
function endsEarly(key: string, closed: boolean): boolean {
  const quote = key.indexOf('"')
  const rest = quote < 0 || (closed && quote === key.length - 1) ? '' : key.slice(quote)
  if (/:[^"tfn\d{[-]*(?:["tfn\d{[]|-[-.eE]*\d)/.test(rest)) throw new Unreadable()
  return rest.includes(':')
}

class PrefixReader {
  readonly #text: string
  #at = 0
  #depth = 0
  /** The text ends here, or goes on with what no JSON has. Everything that is open is closed. */
  #ended = false

  constructor(text: string) {
    this.#text = text
  }

  read(): unknown {
    try {
      const value = this.#value()
      return value === NOTHING ? undefined : value
    } catch (error) {
      if (error instanceof Unreadable) return undefined
      throw error
    }
  }

  #value(): unknown {
    const next = this.#next()
    if (next === '{' || next === '[') {
      checkDepth(++this.#depth)
      const value = next === '{' ? this.#object() : this.#list()
      this.#depth--
      return value
    }
    if (next === '"') return this.#string().value
    if (next !== undefined && (next === '-' || (next >= '0' && next <= '9'))) return this.#number()
    if (next !== undefined && 'tfn'.includes(next)) return this.#literal()
    this.#ended = true
    return NOTHING
  }

  #object(): unknown {
    const object: Record<string, unknown> = {}
    // The AI SDK reads a member without an exponent with a plus sign until the next member has a value.
    let unsure: { readonly key: string; readonly value: number } | undefined
    this.#at++
    for (let first = true; !this.#ended; first = false) {
      let next = this.#next()
      if (next === '}') return this.#closed(object)
      if (!first) {
        if (next !== ',') break
        this.#at++
        next = this.#next()
      }
      if (next !== '"') break
      const start = this.#at + 1
      const { value: key, closed } = this.#string()
      if (endsEarly(this.#text.slice(start, this.#at), closed) || !closed || this.#next() !== ':') break
      this.#at++
      this.#next()
      const from = this.#at
      const value = this.#value()
      if (value === NOTHING) continue
      // Plain assignment of this key would set the prototype.
      if (key === '__proto__') throw new Unreadable()
      object[key] = value
      const exponent = typeof value === 'number' ? this.#text.slice(from, this.#at).search(/[eE]\+\d+$/) : -1
      unsure = exponent < 0 ? undefined : { key, value: Number(this.#text.slice(from, from + exponent)) }
    }
    this.#ended = true
    if (unsure) object[unsure.key] = unsure.value
    return object
  }

  #list(): unknown {
    const list: unknown[] = []
    this.#at++
    for (let first = true; !this.#ended; first = false) {
      const next = this.#next()
      if (next === ']') return this.#closed(list)
      if (!first && next !== ',') break
      if (!first) this.#at++
      const value = this.#value()
      if (value !== NOTHING) list.push(value)
    }
    this.#ended = true
    return list
  }

  #closed(value: unknown): unknown {
    this.#at++
    return value
  }

  /** The text of a string that may be cut off. An escape that is cut off is left out. */
  #string(): { readonly value: string; readonly closed: boolean } {
    let value = ''
    for (this.#at++; this.#at < this.#text.length; ) {
      const character = this.#text[this.#at++] as string
      if (character === '"') return { value, closed: true }
      if (character !== '\\') value += character
      else {
        const escaped = this.#escape()
        if (escaped === undefined) break
        value += escaped
      }
    }
    this.#ended = true
    return { value, closed: false }
  }

  #escape(): string | undefined {
    const name = this.#text[this.#at++]
    if (name === undefined) return undefined
    if (name !== 'u') {
      const found = ESCAPED[name]
      if (found === undefined) throw new Unreadable()
      return found
    }
    const digits = this.#text.slice(this.#at, this.#at + 4)
    this.#at += 4
    if (!/^[0-9a-fA-F]*$/.test(digits)) throw new Unreadable()
    return digits.length < 4 ? undefined : String.fromCharCode(Number.parseInt(digits, 16))
  }

  #number(): unknown {
    NUMBER.lastIndex = this.#at
    const [digits] = NUMBER.exec(this.#text) ?? []
    if (digits === undefined) {
      this.#ended = true
      return NOTHING
    }
    this.#at += digits.length
    // A digit behind a zero is no JSON. A dot, an exponent or a sign at the end is a number that goes on.
    const rest = this.#text[this.#at]
    if (rest !== undefined && rest >= '0' && rest <= '9') throw new Unreadable()
    if (rest !== undefined && '.eE'.includes(rest)) this.#ended = true
    return Number(digits)
  }

  #literal(): unknown {
    const letters = /[a-z]*/y
    letters.lastIndex = this.#at
    const [word = ''] = letters.exec(this.#text) ?? []
    this.#at += word.length
    const found = LITERALS.find(([whole]) => whole.startsWith(word))
    if (!found || (word !== found[0] && this.#at < this.#text.length)) throw new Unreadable()
    return found[1]
  }

  /** The next character that is not a space. */
  #next(): string | undefined {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'x')) this.#at++
    return this.#text[this.#at]
  }
}
