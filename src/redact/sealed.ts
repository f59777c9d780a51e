// Finds objects whose secret members have plain names: a JSON Web Key (`d` beside `kty`), a Kubernetes secret (`data` beside `kind`) and a
// random password in the state of Terraform (`result`).
import { absentValue } from './looks.ts'
import type { Span } from './spans.ts'
import type { Undecided } from './undecided.ts'

const KEY_TYPES: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP', 'oct', 'AKP'])

/** Whether a member is secret because of the object around it. Runs for every member, so names that cannot be meant end at once. */
export function isSealed(data: Readonly<Record<string, unknown>>, name: string): boolean {
  if (name === 'data' || name === 'stringData') return Object.hasOwn(data, 'kind') && data.kind === 'Secret'
  if (name === 'result') return Object.hasOwn(data, 'length') && (Object.hasOwn(data, 'special') || Object.hasOwn(data, 'bcrypt_hash'))
  if (name.length > 2 && name !== 'priv') return false
  return KEY_MEMBER_NAME.test(name) && Object.hasOwn(data, 'kty') && KEY_TYPES.has(data.kty)
}

const KEY_MEMBER_NAME = /^(?:d|p|q|dp|dq|qi|k|priv)$/
const KTY = /"kty\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}"(?:RSA|EC|OKP|oct|AKP)\\{0,3}"/g
const KEY_MEMBER = /"(?:d|p|q|dp|dq|qi|k|priv)\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}"([^"\\]{1,8192})/g
const KIND = /"kind\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}"Secret\\{0,3}"/
const KINDS = new RegExp(KIND, 'g')
/** The members of `data`, also while its closing brace has not come. */
const SECRET_DATA = /"(?:data|stringData)\\{0,3}"\s{0,8}:\s{0,8}\{([^{}]{1,65536})(?:\}|$)/g
const STRING_DATA = /"(?:data|stringData)\\{0,3}"\s{0,8}:\s{0,8}\{\s{0,64}\\{0,3}"[^"]{0,256}"\s{0,8}:\s{0,8}\\{0,3}"[^{}]*(?:\}|$)/g
const ENTRY = /:\s{0,8}\\{0,3}"([^"\\]{1,65536})/g
/** A key or a secret is not larger. The limit also bounds the search for its braces. */
const LARGEST = 16_384
const MOST = 32

export function couldBeSealed(text: string): boolean {
  return text.includes('kty') || text.includes('Secret') || text.includes('"result')
}

/** The password in the state of Terraform. Its members and the type of its resource stand before it, in this order. */
const RESULT = /"result\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}"((?:[^"\\\s]|\\{1,4}u[0-9a-fA-F]{4}){1,512})/g
const RESULT_BEGUN = /("result\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}")(?:[^"\\\s]|\\{1,4}u[0-9a-fA-F]{4}){0,512}\\{0,4}(?:u[0-9a-fA-F]{0,3})?$/
const GENERATED = /random_password|"bcrypt_hash|"min_special/
const STATE_CHARS = 640

/** The same in JSON text. It is masked in place, so that the text stays JSON. */
export function sealedSpans(text: string, spans: Span[]): void {
  if (text.includes('"kty')) {
    for (const hit of atMost(text.matchAll(KTY))) {
      const start = Math.max(text.lastIndexOf('{', hit.index), hit.index - LARGEST, 0)
      const close = text.indexOf('}', hit.index)
      const end = close < 0 ? text.length : close
      for (const member of text.slice(start, Math.min(end, start + LARGEST)).matchAll(KEY_MEMBER)) push(start, member, spans)
    }
  }
  if (text.includes('"result')) {
    for (const hit of text.matchAll(RESULT)) {
      if (GENERATED.test(text.slice(Math.max(0, hit.index - STATE_CHARS), hit.index))) push(0, hit, spans)
    }
  }
  if (!text.includes('"Secret') || !KIND.test(text)) return
  for (const hit of atMost(text.matchAll(SECRET_DATA))) {
    if (!KIND.test(text.slice(opening(text, hit.index), closing(text, hit.index + hit[0].length)))) continue
    const start = hit.index + hit[0].indexOf('{') + 1
    for (const entry of (hit[1] as string).matchAll(ENTRY)) push(start, entry, spans)
  }
}

/** `kind` follows `data` this closely when members are in alphabetical order. */
const KIND_CHARS = 256

/** A value under `data` is base64. Any other text tells that the object is no secret. */
const ENCODED = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={1,2})?$/
const FIRST_VALUE = /[^{]*\{\s{0,64}\\{0,3}"[^"]{0,256}"\s{0,8}:\s{0,8}\\{0,3}"/
const WHOLE_ENTRY = /:\s{0,8}\\{0,3}"([^"\\]{0,65536})\\{0,3}"/g

/** Tells where members begin whose object has not ended: its other members decide whether they are secret. */
export function openSealed(text: string, undecided: Undecided): void {
  if (text.includes('"Secret')) {
    for (const hit of atMost(text.matchAll(KINDS))) if (closing(text, hit.index) === text.length) undecided(hit.index + hit[0].length)
  }
  if (text.includes('"data') || text.includes('"stringData')) {
    for (const hit of atMost(text.matchAll(STRING_DATA))) {
      const end = hit.index + hit[0].length
      if (end < text.length && (text.length - end >= KIND_CHARS || closing(text, end) < text.length)) continue
      if (hit[0].startsWith('"data') && hasPlainValue(hit[0])) continue
      undecided(hit.index + (FIRST_VALUE.exec(hit[0])?.[0].length ?? 0))
    }
  }
  const last = text.lastIndexOf('"result')
  if (last >= 0) {
    const begun = RESULT_BEGUN.exec(text.slice(last))
    if (begun !== null && GENERATED.test(text.slice(Math.max(0, last - STATE_CHARS), last))) undecided(last + (begun[1] as string).length)
  }
  const brace = text.lastIndexOf('{')
  if (brace < 0 || text.includes('}', brace)) return
  const members = text.slice(brace)
  for (const hit of members.matchAll(KTY)) undecided(brace + hit.index + hit[0].length)
  for (const hit of members.matchAll(KEY_MEMBER)) undecided(brace + hit.index + hit[0].length - (hit[1] as string).length)
}

function hasPlainValue(members: string): boolean {
  for (const entry of members.matchAll(WHOLE_ENTRY)) if (!ENCODED.test(entry[1] as string)) return true
  return false
}

function push(offset: number, hit: RegExpExecArray, spans: Span[]): void {
  const value = hit[1] as string
  const end = offset + hit.index + hit[0].length
  if (!absentValue(value)) spans.push({ start: end - value.length, end, kind: 'key' })
}

function* atMost(hits: Iterable<RegExpExecArray>): Generator<RegExpExecArray> {
  let count = 0
  for (const hit of hits) {
    if (++count > MOST) return
    yield hit
  }
}

/** Returns the place of the brace that opens the object around `at`. */
function opening(text: string, at: number): number {
  let depth = 0
  for (let place = at - 1; place >= 0 && place > at - LARGEST; place--) {
    const code = text.charCodeAt(place)
    if (code === 125) depth++
    else if (code === 123 && depth-- === 0) return place
  }
  return Math.max(0, at - LARGEST)
}

function closing(text: string, at: number): number {
  let depth = 0
  for (let place = at; place < text.length && place < at + LARGEST; place++) {
    const code = text.charCodeAt(place)
    if (code === 123) depth++
    else if (code === 125 && depth-- === 0) return place
  }
  return Math.min(text.length, at + LARGEST)
}
