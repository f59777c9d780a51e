// Bytes of the value format: a buffer that grows, and a reader that refuses to read past the end.

import { fromUtf8 } from '../../../model/bytes.ts'

const encoder = new TextEncoder()

export class Buffer {
  #bytes = new Uint8Array(4096)
  at = 0

  #room(count: number): number {
    const { at } = this
    if (at + count > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, at + count))
      larger.set(this.#bytes.subarray(0, at))
      this.#bytes = larger
    }
    this.at = at + count
    return at
  }

  u8(value: number): void {
    const at = this.#room(1)
    this.#bytes[at] = value
  }

  /** LEB128, for integers up to 2^54. */
  varint(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      this.u8((rest % 0x80) + 0x80)
      rest = Math.floor(rest / 0x80)
    }
    this.u8(rest)
  }

  double(value: number): void {
    const at = this.#room(8)
    new DataView(this.#bytes.buffer).setFloat64(at, value)
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#room(bytes.length)
    this.#bytes.set(bytes, at)
  }

  /** A copy of what was written since `from`, which is then taken back. */
  cut(from: number): Uint8Array {
    const copy = this.#bytes.slice(from, this.at)
    this.at = from
    return copy
  }
}

export function varint(value: number): Uint8Array {
  const buffer: number[] = []
  let rest = value
  while (rest >= 0x80) {
    buffer.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  buffer.push(rest)
  return Uint8Array.from(buffer)
}

export const utf8Bytes = (text: string): Uint8Array => encoder.encode(text)

/** UTF-16LE, which keeps lone surrogates. */
export function wideBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    bytes[2 * i] = unit
    bytes[2 * i + 1] = unit >>> 8
  }
  return bytes
}

export function wideText(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let from = 0; from < bytes.length; from += 8192) {
    const units: number[] = []
    for (let i = from; i + 1 < Math.min(bytes.length, from + 8192); i += 2)
      units.push((bytes[i] as number) | ((bytes[i + 1] as number) << 8))
    pieces.push(String.fromCharCode(...units))
  }
  return pieces.join('')
}

/** Bytes that do not follow the format. The caller turns it into a refusal that names the value. */
export class Malformed extends Error {
  override readonly name = 'Malformed'
}

export class Reader {
  readonly #bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.at = at
  }

  get isAtEnd(): boolean {
    return this.at === this.#bytes.length
  }

  u8(): number {
    const value = this.#bytes[this.at]
    if (value === undefined) throw new Malformed('the bytes end too early')
    this.at++
    return value
  }

  varint(): number {
    let [value, scale] = [0, 1]
    for (let i = 0; i < 8; i++) {
      const byte = this.u8()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 0x80
    }
    throw new Malformed('a number is too long')
  }

  double(): number {
    const bytes = this.take(8)
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0)
  }

  /** A view, valid as long as the bytes. */
  take(count: number): Uint8Array {
    if (this.at + count > this.#bytes.length) throw new Malformed('the bytes end too early')
    this.at += count
    return this.#bytes.subarray(this.at - count, this.at)
  }

  text(count: number): string {
    return textOf(this.take(count))
  }
}

/** Text of UTF-8 bytes. */
export function textOf(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes)
  } catch {
    throw new Malformed('text is not UTF-8')
  }
}
