// Ids are ULIDs: 48 bits of milliseconds and 80 random bits, written as 26 characters of Crockford base 32. As text they sort by time; the
// journal stores their 16 raw bytes.

import { refuse } from './errors.ts'
import { limits } from './limits.ts'
import { expected, quoted } from './options.ts'

declare const brand: unique symbol
export type Id<Name extends string = string> = string & { readonly [brand]: Name }
export type EventId = Id<'event'>
export type SessionId = Id<'session'>
export type RunId = Id<'run'>
export type TenantId = string & { readonly [brand]: 'tenant' }

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const TENANT = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,${limits.tenantChars - 1}}$`)

export const ID_BYTES = 16
const TIME_CHARS = 10
export const isId = (text: unknown): text is Id => typeof text === 'string' && ULID.test(text)
export const isTenant = (text: unknown): text is TenantId => typeof text === 'string' && TENANT.test(text)
export const MAIN = 'main' as TenantId

export function tenantId(text: string): TenantId {
  if (!isTenant(text)) throw refuse('TENANT_INVALID', { tenant: quoted(text).slice(0, 80) })
  return text
}

export function toId<Name extends string>(text: unknown): Id<Name> {
  if (typeof text !== 'string') throw refuse('ID_INVALID', { why: expected('an id', text) })
  if (!isId(text)) throw refuse('ID_INVALID', { id: text.slice(0, 80) })
  return text as Id<Name>
}

/** Checks an id that may be left out. */
export const optionalId = <Name extends string>(text: unknown): Id<Name> | undefined => (text === undefined ? undefined : toId<Name>(text))

const VALUES = new Uint8Array(128).fill(255)
for (let i = 0; i < 32; i++) VALUES[ALPHABET.charCodeAt(i)] = i
const PAIRS: string[] = []
for (let i = 0; i < 1024; i++) PAIRS.push(ALPHABET.charAt(i >> 5) + ALPHABET.charAt(i & 31))

/** Writes the 16 bytes of an id into `target`. The caller has checked the id. */
export function writeId(id: string, target: Uint8Array, offset: number): void {
  // 26 characters hold 130 bits, the first two of which are zero.
  let bits = VALUES[id.charCodeAt(0)] as number
  let held = 3
  let at = offset
  for (let i = 1; i < 26; i++) {
    bits = ((bits << 5) | (VALUES[id.charCodeAt(i)] as number)) & 0xfff
    held += 5
    if (held >= 8) {
      held -= 8
      target[at++] = (bits >> held) & 0xff
    }
  }
}

/** The time in an id, in Unix milliseconds. */
export function idTime(id: Id): number {
  let time = 0
  for (let i = 0; i < TIME_CHARS; i++) time = time * 32 + (VALUES[id.charCodeAt(i)] as number)
  return time
}

export function idBytes(id: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(ID_BYTES)
  writeId(id, bytes, 0)
  return bytes
}

export function readId<Name extends string>(bytes: Uint8Array, offset = 0): Id<Name> {
  let text = ''
  let bits = 0
  let held = 2
  for (let i = 0; i < ID_BYTES; i++) {
    bits = ((bits << 8) | (bytes[offset + i] as number)) & 0xfffff
    held += 8
    if (held >= 10) {
      held -= 10
      text += PAIRS[(bits >> held) & 1023]
    }
  }
  return text as Id<Name>
}

/**
 * Makes ids that never go backwards: within one millisecond, or when the clock steps back, it increments the last id. Random bytes are
 * drawn in pools, because drawing ten bytes per id would dominate the cost.
 */
export function idMaker(now: () => number, random: (count: number) => Uint8Array): <Name extends string>() => Id<Name> {
  const last = new Uint8Array(ID_BYTES)
  let lastTime = -1
  let pool = new Uint8Array(0)
  let used = 0

  const stamp = (time: number) => {
    lastTime = time
    const high = Math.floor(time / 0x1_0000_0000)
    const low = time >>> 0
    last[0] = high >> 8
    last[1] = high
    last[2] = low >>> 24
    last[3] = low >>> 16
    last[4] = low >>> 8
    last[5] = low
    if (used + 10 > pool.length) {
      pool = new Uint8Array(random(2560))
      used = 0
    }
    for (let i = 0; i < 10; i++) last[6 + i] = pool[used++] as number
    // Clear the top bit, so that there is room to increment within one millisecond.
    last[6] = (last[6] as number) & 0x7f
  }

  return <Name extends string>() => {
    const time = now()
    if (time > lastTime) stamp(time)
    else {
      let i = ID_BYTES - 1
      while (i > 5 && last[i] === 255) last[i--] = 0
      if (i > 5) last[i] = (last[i] as number) + 1
      else stamp(lastTime + 1)
    }
    return readId<Name>(last)
  }
}
