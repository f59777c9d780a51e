// Blobs and the power: whenever it goes, a blob is whole under its name or not there, and what was acknowledged is there.

import { createHash } from 'node:crypto'
import { basename, dirname, join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PoweredDisk, type PoweredDiskOptions, type Survival } from '../../../test/support/powered-disk.ts'
import { MAIN, type TenantId, tenantId } from '../../model/ids.ts'
import { BlobFiles, type Disk } from './blob-files.ts'
import { tenantFolder } from './tenant-files.ts'

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const ACME = tenantId('acme')

describe('when the power goes', () => {
  const STORE = '/data/store.db'

  // Two of them share a folder, so that one is made and one is found.
  const blobs = Array.from({ length: 2000 }, (_, i) => bytesOf(`blob ${i}`.repeat(9)))
  const first = blobs[0] as Uint8Array
  const beside = blobs.slice(1).find((bytes) => sha256(bytes).slice(0, 2) === sha256(first).slice(0, 2)) as Uint8Array
  const elsewhere = blobs.slice(1).find((bytes) => sha256(bytes).slice(0, 2) !== sha256(first).slice(0, 2)) as Uint8Array
  const wanted: readonly (readonly [TenantId, Uint8Array])[] = [
    [MAIN, first],
    [MAIN, beside],
    [ACME, first],
    [MAIN, elsewhere],
    [MAIN, first],
  ]

  function freshDisk(options?: PoweredDiskOptions): PoweredDisk {
    const disk = new PoweredDisk(options)
    disk.add('/data')
    disk.add(STORE)
    return disk
  }

  type Putting = (disk: Disk) => { put(tenant: TenantId, digest: string, bytes: Uint8Array): Promise<unknown> }
  const honest: Putting = (disk) => new BlobFiles(`${STORE}.blobs`, STORE, disk)

  /** Puts until it dies; tells what was acknowledged. */
  async function live(disk: Disk, putting: Putting): Promise<readonly string[]> {
    const acked: string[] = []
    const program = putting(disk)
    for (const [tenant, bytes] of wanted) {
      try {
        await program.put(tenant, sha256(bytes), bytes)
        acked.push(posix.join(tenantFolder(tenant), sha256(bytes).slice(0, 2), sha256(bytes)))
      } catch {
        return acked
      }
    }
    return acked
  }

  function wrongWith(disk: PoweredDisk, acked: readonly string[], survival: Survival): readonly string[] {
    const left = disk.after(survival)
    return [
      ...acked.filter((path) => !left.has(`${STORE}.blobs/${path}`)).map((path) => `lost: ${path}`),
      ...[...left]
        .filter(([path, bytes]) => /\/[0-9a-f]{64}$/.test(path) && sha256(bytes) !== basename(path))
        .map(([path]) => `torn: ${path}`),
    ]
  }

  /** At every call of a program, then at every call of another that comes after it. */
  async function everyMoment(putting: Putting = honest, options?: PoweredDiskOptions): Promise<Readonly<Record<string, number>>> {
    const told: Record<string, number> = { moments: 0 }
    const count = (what: string) => {
      told[what] = (told[what] ?? 0) + 1
    }
    const calls: string[] = []
    await live(freshDisk().use(Infinity, calls), putting)
    for (let dies = 0; dies <= calls.length; dies++) {
      for (const survival of ['what was flushed', 'names without bytes'] as const) {
        const disk = freshDisk(options)
        const acked = await live(disk.use(dies), putting)
        for (const wrong of wrongWith(disk, acked, survival)) count(wrong.slice(0, 4))
        // The program is gone and the power is not: the next one finds what it left, flushed or not.
        const again = await live(disk.use(), putting)
        expect(again.length).toBe(wanted.length)
        for (const wrong of wrongWith(disk, [...acked, ...again], survival)) count(wrong.slice(0, 4))
        count('moments')
      }
    }
    return told
  }

  test('a blob is whole under its name or not there, and what was acknowledged is there', async () => {
    expect(await everyMoment()).toEqual({ moments: expect.toSatisfy((moments: number) => moments > 50) })
  })

  /** Another program dies beside it, or goes on, at any call; what this one was told is judged. */
  async function besideAnother(putting: Putting): Promise<readonly string[]> {
    const wrong: string[] = []
    for (let dies = 0; dies < 60; dies++) {
      const disk = freshDisk()
      const [, acked] = await Promise.all([live(disk.use(dies), putting), live(disk.use(), putting)])
      expect(acked.length).toBe(wanted.length)
      wrong.push(...wrongWith(disk, acked, 'what was flushed'))
    }
    return wrong
  }

  test('two programs that put the same at once leave nothing to each other', async () => {
    expect(await besideAnother(honest)).toEqual([])
  })

  test('a power cut is noticed when a program flushes only what it made itself', async () => {
    let written = 0
    const own: Putting = (disk) => ({
      put: async (tenant, digest, bytes) => {
        const folder = join(`${STORE}.blobs`, tenantFolder(tenant), digest.slice(0, 2))
        const made = await disk.mkdir(folder, { recursive: true })
        const flush = async (path: string) => (await disk.open(path, 'r')).sync()
        const there = await disk.stat(join(folder, digest)).catch(() => undefined)
        if (there) return
        const beside = join(folder, `${digest}.new-${written++}`)
        const file = await disk.open(beside, 'wx')
        await file.writeFile(bytes)
        await file.sync()
        await disk.rename(beside, join(folder, digest))
        await flush(folder)
        for (let at = folder; made !== undefined && at.length >= made.length; at = dirname(at)) await flush(dirname(at))
      },
    })
    expect((await everyMoment(own)).lost).toBeGreaterThan(0)
    expect((await besideAnother(own)).length).toBeGreaterThan(0)
  })

  // The controls: without one of the flushes, or in place, the same is seen to do harm.
  test.each([
    ['bytes are not flushed', 'torn', (what: string) => what === 'file'],
    ['folders are not flushed', 'lost', (what: string) => what === 'folder'],
    ['only the folder of the blob is flushed', 'lost', (what: string, path: string) => what === 'folder' && !/\/[0-9a-f]{2}$/.test(path)],
    ['only the folders above are flushed', 'lost', (what: string, path: string) => what === 'folder' && /\/[0-9a-f]{2}$/.test(path)],
    ['the folder of the store is not flushed', 'lost', (what: string, path: string) => what === 'folder' && path === '/data'],
  ] as const)('a power cut is noticed when %s', async (_, harm, lazy) => {
    const told = await everyMoment(honest, { lazy })
    expect(told[harm]).toBeGreaterThan(0)
  })

  test('a power cut is noticed when blobs are written in place', async () => {
    const inPlace: Putting = (disk) => ({
      put: async (tenant, digest, bytes) => {
        const folder = join(`${STORE}.blobs`, tenantFolder(tenant), digest.slice(0, 2))
        await disk.mkdir(folder, { recursive: true })
        const file = await disk.open(join(folder, digest), 'wx')
        await file.writeFile(bytes)
        await file.sync()
        for (let at = folder; at !== '/'; at = dirname(at)) await (await disk.open(at, 'r')).sync()
      },
    })
    expect((await everyMoment(inPlace)).torn).toBeGreaterThan(0)
  })
})
