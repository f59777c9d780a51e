// Bytes as the format page writes them: big-endian numbers, length-prefixed text, ids, hex.

import { writeId } from './ids.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)

/** Throws on bytes that are not UTF-8: damaged text is never silently replaced. */
export const fromUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes)

export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) continue
    if (code < 0x800) bytes += 1
    else if (code >= 0xd800 && code <= 0xdbff) {
      bytes += 2
      i++
    } else bytes += 2
  }
  return bytes
}

const HEX: string[] = []
for (let i = 0; i < 256; i++) HEX.push(i.toString(16).padStart(2, '0'))

export function hex(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i++) text += HEX[bytes[i] as number]
  return text
}

export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length >> 1)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

/** The letters of base64, as bytes. */
export const LETTERS = utf8('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = 61

/** Letters are written as bytes first: joining them as texts would leave a rope of thousands of pieces. */
export function base64(bytes: Uint8Array): string {
  const letters = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  for (let i = 0, at = 0; i < bytes.length; i += 3) {
    const held = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    letters[at++] = LETTERS[held >> 18] as number
    letters[at++] = LETTERS[(held >> 12) & 63] as number
    letters[at++] = LETTERS[(held >> 6) & 63] as number
    letters[at++] = LETTERS[held & 63] as number
  }
  for (let missing = (3 - (bytes.length % 3)) % 3; missing > 0; missing--) letters[letters.length - missing] = PADDING
  return fromUtf8(letters)
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Builds one preimage after another in the same buffer, so that hashing allocates only the digest. */
export class ByteWriter {
  #buffer = new Uint8Array(4096)
  #length = 0

  start(tag: Uint8Array): this {
    this.#length = 0
    return this.bytes(tag)
  }

  #room(count: number): number {
    const at = this.#length
    if (at + count > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(this.#buffer.length * 2, at + count))
      larger.set(this.#buffer.subarray(0, at))
      this.#buffer = larger
    }
    this.#length = at + count
    return at
  }

  bytes(bytes: Uint8Array): this {
    const at = this.#room(bytes.length)
    this.#buffer.set(bytes, at)
    return this
  }

  u8(value: number): this {
    const at = this.#room(1)
    this.#buffer[at] = value
    return this
  }

  u32(value: number): this {
    const at = this.#room(4)
    const b = this.#buffer
    b[at] = value >>> 24
    b[at + 1] = value >>> 16
    b[at + 2] = value >>> 8
    b[at + 3] = value
    return this
  }

  u64(value: number): this {
    return this.u32(Math.floor(value / 0x1_0000_0000)).u32(value >>> 0)
  }

  text(text: string): this {
    // UTF-8 needs at most three bytes per UTF-16 code unit.
    const at = this.#room(text.length * 3)
    const { written } = encoder.encodeInto(text, this.#buffer.subarray(at))
    this.#length = at + written
    return this
  }

  /** `lp(text)`: the length first, so that no boundary between fields can be shifted. */
  prefixed(text: string): this {
    const at = this.#room(4)
    const before = this.#length
    this.text(text)
    const after = this.#length
    this.#length = at
    this.u32(after - before)
    this.#length = after
    return this
  }

  id(id: string | undefined): this {
    const at = this.#room(16)
    if (id === undefined) this.#buffer.fill(0, at, at + 16)
    else writeId(id, this.#buffer, at)
    return this
  }

  /** Valid until the next `start`. */
  done(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }
}
