// Damage to blobs.

import { MAIN, maker, OTHER, sha256 } from '../../../src/conformance/material.ts'
import { hex } from '../../../src/model/bytes.ts'
import { InkError } from '../../../src/model/errors.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Blobs, BlobWriter } from '../../../src/ports/blobs.ts'
import type { Commit } from '../../../src/ports/commit.ts'
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

const pieced = 'a blob of any size is kept in pieces, and is there once it is finished'
const told = 'every blob of the tenant is listed once, in order'
const guarded = 'a commit that names a blob is refused where the tenant has no such blob'
const collected = 'a collection deletes the blobs it condemned, unless they were put or named again'

const withoutBlobGuards = (commit: Commit): Commit => ({ ...commit, guards: commit.guards.filter(({ kind }) => kind !== 'blob') })

const writing = (alter: (writer: BlobWriter, blobs: Blobs) => Partial<BlobWriter>) =>
  keeping((blobs) => ({
    write: async (tenant, storage) => {
      const writer = await blobs.write(tenant, storage)
      return { ...writer, ...alter(writer, blobs) }
    },
  }))

export const blobSabotages: readonly Sabotage[] = [
  spoiled(
    'loses the second piece of a blob',
    [pieced],
    writing((writer) => {
      let n = 0
      return { add: async (piece, digest) => (n++ === 1 ? undefined : writer.add(piece, digest)) }
    }),
  ),
  spoiled(
    'gives the first piece for every piece',
    [pieced],
    keeping((blobs) => ({ get: (tenant, digest) => blobs.get(tenant, digest, 0) })),
  ),
  spoiled(
    'keeps what was abandoned',
    [pieced],
    writing((writer) => ({ abandon: () => writer.finish(asDigest('abandoned')) })),
  ),
  spoiled(
    'gives half of what was compressed',
    [pieced],
    keeping((blobs) => ({
      put: (tenant, digest, bytes, storage) =>
        blobs.put(tenant, digest, storage?.compress ? bytes.subarray(0, bytes.length >> 1) : bytes, storage),
    })),
  ),
  spoiled(
    'deletes the blobs of other tenants too',
    [collected],
    keeping((blobs, { values }) => ({
      remove: async (tenant, number, digests) => {
        const other = tenant === MAIN ? OTHER : MAIN
        const theirs = await values.begin(other)
        await blobs.condemn({ tenant: other, number: theirs.number, digests, before: Infinity, seen: 0 })
        await blobs.remove(other, theirs.number, digests)
        return blobs.remove(tenant, number, digests)
      },
    })),
  ),
  spoiled(
    'lists blobs backwards',
    [told],
    keeping((blobs) => ({ list: async (...given) => (await blobs.list(...given)).toReversed() })),
  ),
  spoiled(
    'lists the first page for ever',
    [told],
    keeping((blobs) => ({ list: (tenant, _, limit) => blobs.list(tenant, undefined, limit) })),
  ),
  spoiled('does not look for the blobs that a commit names', [guarded], (backend) => ({
    ...backend,
    commit: (batch) => backend.commit(batch.map(withoutBlobGuards)),
  })),
  spoiled('does not look for the blobs that the data of a caller names', [guarded], (backend) => ({
    ...backend,
    commit: (batch) =>
      backend.commit(batch.map((one) => ({ ...one, guards: one.guards.filter((guard) => guard.kind !== 'blob' || !guard.given) }))),
  })),
  spoiled('does not note the blobs that a commit names', [collected], (backend) => ({
    ...backend,
    commit: async (batch) => {
      const missing = await Promise.all(
        batch.map(async ({ tenant, guards }) => {
          const named = guards.flatMap((guard) => (guard.kind === 'blob' ? [guard.digest] : []))
          return named.length > 0 && (await backend.blobs.has(tenant, named)).includes(false)
        }),
      )
      return backend.commit(batch.map((commit, i) => (missing[i] ? commit : withoutBlobGuards(commit))))
    },
  })),
  spoiled(
    'leaves a condemned blob condemned when it is put',
    [collected],
    keeping((blobs) => ({
      put: async (tenant, digest, bytes, storage) => {
        if (!(await blobs.has(tenant, [digest]))[0]) await blobs.put(tenant, digest, bytes, storage)
        else await blobs.get(tenant, digest, 0)
      },
    })),
  ),
  spoiled(
    'deletes blobs that were not condemned',
    [collected],
    keeping((blobs) => ({
      remove: async (tenant, number, digests) => {
        await blobs.condemn({ tenant, number, digests, before: Infinity, seen: 0 })
        return blobs.remove(tenant, number, digests)
      },
    })),
  ),
  spoiled(
    'condemns whatever its age',
    [collected],
    keeping((blobs) => ({ condemn: (given) => blobs.condemn({ ...given, before: Infinity }) })),
  ),
  spoiled(
    'condemns without looking at the nodes that were named',
    [collected],
    keeping((blobs, { values }) => ({
      condemn: async (given) => blobs.condemn({ ...given, seen: (await values.named(given.tenant, given.number)).length }),
    })),
  ),
  spoiled(
    'says that it deleted what it did not',
    [collected],
    keeping((blobs) => ({
      remove: async (tenant, number, digests) => {
        const gone = await blobs.remove(tenant, number, digests)
        return gone === 'replaced' ? gone : digests
      },
    })),
  ),
  spoiled(
    'cuts off the last byte of a blob',
    [kept],
    keeping((blobs) => ({ put: (tenant, digest, bytes) => blobs.put(tenant, digest, bytes.subarray(0, -1)) })),
  ),
  spoiled(
    'reads blobs as text',
    [kept],
    keeping((blobs) => ({
      get: async (tenant, digest, n) => {
        const piece = await blobs.get(tenant, digest, n)
        return piece && { ...piece, body: new TextEncoder().encode(new TextDecoder().decode(piece.body)) }
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
        get: async (tenant, digest, n) => {
          const piece = await blobs.get(tenant, digest, n)
          return piece && { ...piece, body: held.get(`${tenant}/${digest}`) ?? piece.body }
        },
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
    keeping((blobs) => ({
      get: async (tenant, digest, n) =>
        (await blobs.get(tenant, digest, n)) ?? { body: new Uint8Array(0), sha256: sha256(new Uint8Array(0)), bytes: 0 },
    })),
  ),
  spoiled(
    'knows nothing of a blob without bytes',
    [found, kept],
    keeping((blobs) => ({
      get: async (tenant, digest, n) => {
        const piece = await blobs.get(tenant, digest, n)
        return piece?.body.length ? piece : undefined
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
      get: (_, digest, n) => blobs.get(MAIN, digest, n),
      has: (_, digests) => blobs.has(MAIN, digests),
    })),
  ),
  spoiled(
    'gets blobs of what is closed',
    [shut],
    keeping((blobs) => ({ get: (tenant, digest, n) => blobs.get(tenant, digest, n).catch(instead(undefined)) })),
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
      get: (tenant, name, n) => blobs.get(tenant, asDigest(name), n),
      has: (tenant, names) => blobs.has(tenant, names.map(asDigest)),
    })),
  ),
]
