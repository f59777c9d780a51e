// The vectors were made by another implementation, in another language, from the format page alone. They freeze version 1.

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fromHex, hex } from './bytes.ts'
import { bodyDigest, eventDigest, GENESIS, keyDigest, linkHash, payloadDigest } from './chain.ts'
import type { EventHeader } from './event.ts'
import { openPayload, referencesOf } from './event-payload.ts'
import { idBytes, readId } from './ids.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
const vectors = JSON.parse(readFileSync(new URL('../../test/vectors/journal-v1.json', import.meta.url), 'utf8'))

// biome-ignore lint/suspicious/noExplicitAny: vectors are plain JSON
const header = (v: any): EventHeader => ({
  ...v,
  session: v.session ?? undefined,
  run: v.run ?? undefined,
  subject: v.subject ?? undefined,
  cause: v.cause ?? undefined,
  key: v.key ? fromHex(v.key) : undefined,
})

test('ids are the bytes the vectors say', () => {
  expect(vectors.ulid.length).toBeGreaterThan(4)
  for (const { text, hex: bytes } of vectors.ulid) {
    expect(hex(idBytes(text))).toBe(bytes)
    expect(readId(fromHex(bytes))).toBe(text)
  }
})

test('payload, key and body digests are the ones of the vectors', () => {
  expect(vectors.payload.length).toBeGreaterThan(10)
  for (const { salt, payload, commit } of vectors.payload) {
    expect(hex(payloadDigest(sha256, fromHex(salt), payload))).toBe(commit)
    expect(hex(payloadDigest(sha256, fromHex(salt), new TextEncoder().encode(payload)))).toBe(commit)
  }
  for (const { journal, scope, key, digest } of vectors.key) expect(hex(keyDigest(sha256, journal, scope, key))).toBe(digest)
  for (const { salt, canonical, digest } of vectors.body) expect(hex(bodyDigest(sha256, fromHex(salt), canonical))).toBe(digest)
})

test('event digests are the ones of the vectors', () => {
  expect(vectors.event.length).toBeGreaterThan(10)
  for (const v of vectors.event) expect(hex(eventDigest(sha256, v.journal, header(v), fromHex(v.commit)))).toBe(v.event)
})

test('the references of an event follow from its payload as the vectors say', () => {
  expect(vectors.references.length).toBeGreaterThan(10)
  for (const { schema, payload, references } of vectors.references) {
    const opened = openPayload(schema, JSON.parse(payload))
    expect(opened === undefined, payload).toBe(references === null)
    if (opened) expect(referencesOf(schema, payload), payload).toEqual(references)
  }
})

test('chains link as the vectors say, across every length of seq', () => {
  let events = 0
  for (const chain of vectors.chains) {
    let last: Uint8Array = GENESIS
    for (const v of chain.events) {
      const event = eventDigest(sha256, chain.journal, header(v), fromHex(v.commit))
      expect(hex(event)).toBe(v.event)
      last = linkHash(sha256, last, v.seq, event)
      expect(hex(last)).toBe(v.hash)
      events++
    }
  }
  expect(events).toBeGreaterThan(300)
})

test('a changed field changes the digest, wherever the boundary between two fields is put', () => {
  const v = vectors.event[0]
  const digest = hex(eventDigest(sha256, v.journal, header(v), fromHex(v.commit)))
  const shifted = { ...header(v), type: `${v.type}a`, actor: 'x' }
  expect(hex(eventDigest(sha256, v.journal, shifted, fromHex(v.commit)))).not.toBe(digest)
  expect(hex(eventDigest(sha256, `${v.journal}a`, header(v), fromHex(v.commit)))).not.toBe(digest)
})
