// Finds objects whose secret members have plain names: a JSON Web Key (`d` beside `kty`) and a Kubernetes secret (`data` beside `kind`).
import { absentValue } from './looks.ts'
import type { Span } from './spans.ts'

const KEY_TYPES: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP', 'oct', 'AKP'])

/** Whether a member is secret because of the object around it. Runs for every member, so names that cannot be meant end at once. */
export function isSealed(data: Readonly<Record<string, unknown>>, name: string): boolean {
  if (name === 'data' || name === 'stringData') return Object.hasOwn(data, 'kind') && data.kind === 'Secret'
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
  return text.includes('kty') || text.includes('Secret')
}

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
  if (!text.includes('"Secret') || !KIND.test(text)) return
  for (const hit of atMost(text.matchAll(SECRET_DATA))) {
    if (!KIND.test(text.slice(opening(text, hit.index), closing(text, hit.index + hit[0].length)))) continue
    const start = hit.index + hit[0].indexOf('{') + 1
    for (const entry of (hit[1] as string).matchAll(ENTRY)) push(start, entry, spans)
  }
}

/** `kind` follows `data` this closely when members are in alphabetical order. */
const KIND_CHARS = 256

/** Returns the start of an object around `cut` that could be sealed, or -1. Its other members decide whether those at hand are secret. */
export function sealedAround(text: string, cut: number): number {
  if (text.includes('"Secret')) {
    for (const hit of text.matchAll(KINDS)) if (hit.index < cut && closing(text, hit.index) >= cut) return hit.index
  }
  for (const hit of text.matchAll(STRING_DATA)) {
    const end = hit.index + hit[0].length
    if (hit.index < cut && (end > cut || text.length - end < KIND_CHARS)) return hit.index
  }
  const brace = text.lastIndexOf('{', cut - 1)
  const close = text.indexOf('}', brace)
  if (brace < 0 || (close >= 0 && close < cut)) return -1
  const members = text.slice(brace, close < 0 ? text.length : close)
  return members.search(KTY) >= 0 || members.search(KEY_MEMBER) >= 0 ? brace : -1
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
