// Damage to blobs.

import { MAIN, maker, sha256 } from '../../../src/conformance/material.ts'
import { hex } from '../../../src/model/bytes.ts'
import { InkError } from '../../../src/model/errors.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Blobs } from '../../../src/ports/blobs.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const kept = 'bytes are kept under their digest, as they were put'
const found = 'what is there is known, and what is not there is known not to be'
const walled = 'a blob is its own tenant’s'
const shut = 'a tenant that is not active gets, puts and is told of no blob'
const named = 'only a digest names a blob'

const keeping =
  (alter: (blobs: Blobs, backend: Backend) => Partial<Blobs>) =>
  (backend: Backend): Backend => ({ ...backend, blobs: { ...backend.blobs, ...alter(backend.blobs, backend) } })

/** Answers with this where the tenant is closed. */
const instead =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof InkError && error.code === 'TENANT_CLOSED') return value
    throw error
  }

const asDigest = (name: string): string => (/^[0-9a-f]{64}$/.test(name) ? name : hex(sha256(new TextEncoder().encode(name))))

export const blobSabotages: readonly Sabotage[] = [
  spoiled(
    'cuts off the last byte of a blob',
    [kept],
    keeping((blobs) => ({ put: (tenant, digest, bytes) => blobs.put(tenant, digest, bytes.subarray(0, -1)) })),
  ),
  spoiled(
    'reads blobs as text',
    [kept],
    keeping((blobs) => ({
      get: async (tenant, digest) => {
        const bytes = await blobs.get(tenant, digest)
        return bytes && new TextEncoder().encode(new TextDecoder().decode(bytes))
      },
    })),
  ),
  spoiled(
    'keeps the whole buffer that a blob is a part of',
    [kept],
    keeping((blobs) => ({ put: (tenant, digest, bytes) => blobs.put(tenant, digest, new Uint8Array(bytes.buffer)) })),
  ),
  spoiled(
    'refuses a blob that is there already',
    [kept],
    keeping((blobs) => ({
      put: async (tenant, digest, bytes) => {
        if ((await blobs.has(tenant, [digest]))[0]) throw new Error('there already')
        await blobs.put(tenant, digest, bytes)
      },
    })),
  ),
  spoiled(
    'hands out the bytes that it keeps',
    [kept],
    keeping((blobs) => {
      const held = new Map<string, Uint8Array>()
      return {
        put: async (tenant, digest, bytes) => {
          await blobs.put(tenant, digest, bytes)
          held.set(`${tenant}/${digest}`, bytes)
        },
        get: async (tenant, digest) => (await blobs.get(tenant, digest)) && held.get(`${tenant}/${digest}`),
      }
    }),
  ),
  spoiled(
    'writes an event for every blob',
    [kept],
    keeping((blobs, backend) => {
      const make = maker(9)
      return {
        put: async (tenant, digest, bytes) => {
          await backend.commit([make.commit(tenant)])
          await blobs.put(tenant, digest, bytes)
        },
      }
    }),
  ),
  spoiled(
    'gives no bytes for a blob that is not there',
    [found, walled],
    keeping((blobs) => ({ get: async (tenant, digest) => (await blobs.get(tenant, digest)) ?? new Uint8Array(0) })),
  ),
  spoiled(
    'knows nothing of a blob without bytes',
    [found, kept],
    keeping((blobs) => ({
      get: async (tenant, digest) => {
        const bytes = await blobs.get(tenant, digest)
        return bytes?.length ? bytes : undefined
      },
    })),
  ),
  spoiled(
    'tells which blobs are there in an order of its own',
    [found, shut],
    keeping((blobs) => ({ has: async (tenant, digests) => (await blobs.has(tenant, digests)).toReversed() })),
  ),
  spoiled(
    'says that every blob is there',
    [found, walled, shut],
    keeping((blobs) => ({ has: async (tenant, digests) => (await blobs.has(tenant, digests)).map(() => true) })),
  ),
  spoiled(
    'keeps the blobs of all tenants together',
    [walled],
    keeping((blobs) => ({
      put: (_, digest, bytes) => blobs.put(MAIN, digest, bytes),
      get: (_, digest) => blobs.get(MAIN, digest),
      has: (_, digests) => blobs.has(MAIN, digests),
    })),
  ),
  spoiled(
    'gets blobs of what is closed',
    [shut],
    keeping((blobs) => ({ get: (tenant, digest) => blobs.get(tenant, digest).catch(instead(undefined)) })),
  ),
  spoiled(
    'tells of blobs of what is closed',
    [shut],
    keeping((blobs) => ({ has: (tenant, digests) => blobs.has(tenant, digests).catch(instead(digests.map(() => false))) })),
  ),
  spoiled(
    'takes blobs for what is closed',
    [shut],
    keeping((blobs) => ({ put: (tenant, digest, bytes) => blobs.put(tenant, digest, bytes).catch(instead(undefined)) })),
  ),
  spoiled(
    'makes a digest of whatever name a blob is given',
    [named],
    keeping((blobs) => ({
      put: (tenant, name, bytes) => blobs.put(tenant, asDigest(name), bytes),
      get: (tenant, name) => blobs.get(tenant, asDigest(name)),
      has: (tenant, names) => blobs.has(tenant, names.map(asDigest)),
    })),
  ),
]
