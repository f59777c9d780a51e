// Compression of nodes, and the test that the code of both databases is the same.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { packNode, unpackNode } from './node-codec.ts'

const text = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i === 0 ? 2 : 97 + ((i * i) % 7)))
const noise = (length: number): Uint8Array => Uint8Array.of(2, ...randomBytes(length - 1))

test.each([511, 512, 1001, 4095, 4096, 65_537])('a text of %i bytes comes back, and from 512 bytes on it is stored smaller', (length) => {
  const stored = packNode(text(length))
  expect(unpackNode(stored)).toEqual(text(length))
  if (length < 512) expect(stored.length).toBe(length)
  else expect(stored.length).toBeLessThan(length * 0.875)
})

test('bytes that do not compress are stored as they are', () => {
  for (const bytes of [noise(600), noise(5000)]) expect(packNode(bytes)).toBe(bytes)
})

test('damaged bytes are given back as they are, for the kernel to refuse', () => {
  const damaged = packNode(text(1001)).map((byte, i) => (i === 0 ? byte : byte ^ 0xff))
  expect(unpackNode(damaged)).toEqual(damaged)
})

test('a node is stored the same way on both databases', () => {
  const [ours, theirs] = ['./node-codec.ts', '../postgres/node-codec.ts'].map((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8'),
  )
  expect(ours).toBe(theirs)
})
