// Places inside a value: a member of an object, an item of a list, a range of items.

import { Reader } from './bytes.ts'
import { readKey, walkTree } from './decode.ts'
import { KIND, TAG } from './format.ts'
import { skipItem } from './items.ts'

/** A value inside a value: a node, or the bytes of an item. */
export type Place = { readonly body: Uint8Array } | { readonly item: Uint8Array }

/** A subtree of a list, and the range of its items that is wanted. */
export class Below {
  readonly ref: Uint8Array
  readonly from: number
  readonly to: number

  constructor(ref: Uint8Array, from: number, to: number) {
    this.ref = ref
    this.from = from
    this.to = to
  }
}

/** The items of one node of a list tree in a range, and the subtrees that hold the rest of them. */
export function expand(body: Uint8Array, from: number, to: number): readonly (Uint8Array | Below)[] {
  const parts: (Uint8Array | Below)[] = []
  let at = 0
  walkTree(body, {
    below: (ref, items) => {
      if (at < to && at + items > from) parts.push(new Below(ref, Math.max(0, from - at), Math.min(items, to - at)))
      at += items
    },
    entry: (reader) => {
      const start = reader.at
      skipItem(reader)
      if (at >= from && at < to) parts.push(body.subarray(start, reader.at))
      at++
    },
  })
  return parts
}

export const isObject = (place: Place): boolean => ('body' in place ? place.body[0] === KIND.map : place.item[0] === TAG.object)

export function memberOfItem(item: Uint8Array, key: string): Place | undefined {
  const reader = new Reader(item, 1)
  for (let left = reader.varint(); left > 0; left--) {
    const isIt = readKey(reader) === key
    if (isIt) return { item: item.subarray(reader.at) }
    skipItem(reader)
  }
  return undefined
}

export function byteAt(bytes: Uint8Array, index: number): Place | undefined {
  const byte = bytes[index]
  return byte === undefined ? undefined : { item: byte < 64 ? Uint8Array.of(TAG.integer, byte * 2) : twoBytes(byte * 2) }
}

const twoBytes = (doubled: number): Uint8Array => Uint8Array.of(TAG.integer, (doubled & 0x7f) | 0x80, doubled >> 7)

export const INDEX = /^(0|[1-9]\d{0,14})$/

export const clamped = (index: number, total: number): number => Math.min(total, Math.max(0, index < 0 ? total + index : index))
