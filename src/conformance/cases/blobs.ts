// Blobs: bytes under their digest, per tenant. The kernel checks the digest on reading; here the bytes themselves are compared.

import { rejects, deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import { tenantId } from '../../model/ids.ts'
import { group } from '../case.ts'
import { MAIN, OTHER } from '../material.ts'
import { putAll, read, sample, samples, words } from './blob-samples.ts'
import { changesNothing, save } from './expect.ts'

const a = group('blobs')

const kept = 'bytes are kept under their digest, as they were put'
const found = 'what is there is known, and what is not there is known not to be'
const walled = 'a blob is its own tenant’s'
const shut = 'a tenant that is not active gets, puts and is told of no blob'
const named = 'only a digest names a blob'

const nonsense: readonly string[] = [
  '',
  'a',
  'g'.repeat(64),
  'A'.repeat(64),
  'a'.repeat(63),
  'a'.repeat(65),
  `${'a'.repeat(64)}\n`,
  `../../${'a'.repeat(58)}`,
  `/${'a'.repeat(63)}`,
  `${'a'.repeat(63)}\0`,
  `${'a'.repeat(32)}/../${'a'.repeat(28)}`,
]

export const blobs = [
  a(kept, 'what was put is given back, byte for byte', async ({ backend }) => {
    await putAll(backend, samples)
    for (const { digest, bytes } of samples) same(await read(backend, digest), hex(bytes), `${bytes.length} bytes`)
  }),

  a(kept, 'the same bytes put twice, or by several at once, are kept once', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    const [one, other] = [words('one'), words('other')]
    await putAll(backend, [one, one, other, one])
    await Promise.all(Array.from({ length: 5 }, () => putAll(backend, [one, words('new')])))
    for (const { digest, bytes } of [one, other, words('new')]) same(await read(backend, digest), hex(bytes))
    same((await backend.upkeep.measure()).rows.blobs, 3, 'counted once each')
  }),

  a(kept, 'what is done with the bytes afterwards changes nothing that is kept', async ({ backend }) => {
    const { digest, bytes } = words('kept')
    const given = Uint8Array.from(bytes)
    await backend.blobs.put(MAIN, digest, given)
    given.fill(0)
    const got = (await backend.blobs.get(MAIN, digest, 0))?.body
    same(got && hex(got), hex(bytes))
    got?.fill(0)
    same(await read(backend, digest), hex(bytes))
  }),

  a(kept, 'a part of a larger buffer is that part and nothing else', async ({ backend }) => {
    const whole = new TextEncoder().encode('before|the part|behind')
    const { digest, bytes } = sample(whole.subarray(7, 15))
    await backend.blobs.put(MAIN, digest, bytes)
    same(await read(backend, digest), hex(new TextEncoder().encode('the part')))
  }),

  a(kept, 'putting a blob writes no event and no row', async ({ backend, make }) => {
    await save(backend, make.commit(OTHER))
    // A folder of files lists a tenant once it has a file.
    await putAll(backend, samples.slice(0, 1))
    await changesNothing(backend, [MAIN, OTHER], () => putAll(backend, samples))
    same((await save(backend, make.commit(MAIN)))[0]?.seq, 1)
    for (const { digest, bytes } of samples) same(await read(backend, digest), hex(bytes), 'as before the first commit')
  }),

  a(found, 'what nobody put is undefined, and empty bytes are not', async ({ backend }) => {
    same(await backend.blobs.get(MAIN, words('nobody put this').digest, 0), undefined)
    await putAll(backend, samples)
    same(await backend.blobs.get(MAIN, words('nobody put this').digest, 0), undefined)
    same((await backend.blobs.get(MAIN, samples[0]?.digest ?? '', 0))?.body.length, 0)
  }),

  a(found, 'several are asked for at once, and told in the order asked', async ({ backend }) => {
    const [one, two, none] = [words('one'), words('two'), words('none')].map(({ digest }) => digest) as [string, string, string]
    same(await backend.blobs.has(MAIN, []), [])
    same(await backend.blobs.has(MAIN, [one, two]), [false, false])
    await putAll(backend, [words('one'), words('two')])
    same(await backend.blobs.has(MAIN, [none, two, one, none, two]), [false, true, true, false, true])
    const many = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? one : words(`many ${i}`).digest))
    same(
      await backend.blobs.has(MAIN, many),
      many.map((digest) => digest === one),
    )
  }),

  a(walled, 'what one tenant put another has not', async ({ backend, make }) => {
    const { digest, bytes } = words('mine')
    await backend.blobs.put(MAIN, digest, bytes)
    for (const tenant of [OTHER, tenantId('MAIN')]) {
      same(await backend.blobs.get(tenant, digest, 0), undefined)
      same(await backend.blobs.has(tenant, [digest]), [false])
      await save(backend, make.commit(tenant))
      same(await backend.blobs.get(tenant, digest, 0), undefined, 'nor once it has written')
    }
    await backend.blobs.put(OTHER, digest, bytes)
    same(await read(backend, digest, OTHER), hex(bytes))
    same(await read(backend, digest), hex(bytes))
  }),

  a(shut, 'a closed tenant is refused, and has what it had when it comes back', async ({ backend, make }) => {
    const { digest, bytes } = words('mine')
    const late = words('late')
    await backend.blobs.put(MAIN, digest, bytes)
    await backend.blobs.put(OTHER, digest, bytes)
    const turn = (state: 'active' | 'suspended' | 'deleted') => save(backend, make.commit(MAIN, { changes: [{ kind: 'state', state }] }))
    const refusesAll = async (state: string) => {
      const error = { code: 'TENANT_CLOSED', details: { tenant: MAIN, state } }
      await rejects(backend.blobs.get(MAIN, digest, 0), error, 'get')
      await rejects(backend.blobs.get(MAIN, late.digest, 0), error, 'get of nothing')
      await rejects(backend.blobs.has(MAIN, [digest]), error, 'has')
      await rejects(backend.blobs.put(MAIN, digest, bytes), error, 'put of what is there')
      await rejects(backend.blobs.put(MAIN, late.digest, late.bytes), error, 'put')
      same(await read(backend, digest, OTHER), hex(bytes), 'its neighbour is served')
    }
    await turn('suspended')
    await refusesAll('suspended')
    await turn('active')
    same(await read(backend, digest), hex(bytes))
    same(await backend.blobs.has(MAIN, [digest, late.digest]), [true, false])
    await turn('deleted')
    await refusesAll('deleted')
  }),

  a(named, 'a name that is no digest is refused, and nothing is touched', async ({ backend, make }) => {
    await save(backend, make.commit(MAIN))
    const { digest, bytes } = words('kept')
    await backend.blobs.put(MAIN, digest, bytes)
    await changesNothing(backend, [MAIN], async () => {
      for (const name of nonsense) {
        await rejects(backend.blobs.put(MAIN, name, bytes), { code: 'OPTION_INVALID' }, JSON.stringify(name))
        await rejects(backend.blobs.get(MAIN, name, 0), { code: 'OPTION_INVALID' }, JSON.stringify(name))
        await rejects(backend.blobs.has(MAIN, [digest, name]), { code: 'OPTION_INVALID' }, JSON.stringify(name))
      }
    })
    same((await backend.upkeep.measure()).rows.blobs, 1)
    same(await read(backend, digest), hex(bytes))
  }),

  a('a closed backend writes nothing', 'a blob put after closing is refused with STORE_CLOSED', async ({ backend }) => {
    await putAll(backend, [words('before')])
    await backend.close()
    const { digest, bytes } = words('after')
    await rejects(backend.blobs.put(MAIN, digest, bytes), { code: 'STORE_CLOSED' })
  }),

  a(
    'what was acknowledged is there after opening again',
    'blobs are there after opening again, byte for byte',
    async ({ backend, reopen }) => {
      await putAll(backend, samples)
      await backend.blobs.put(OTHER, words('theirs').digest, words('theirs').bytes)
      const again = await reopen()
      for (const { digest, bytes } of samples) same(await read(again, digest), hex(bytes), `${bytes.length} bytes`)
      same(await again.blobs.has(OTHER, [words('theirs').digest, samples[1]?.digest ?? '']), [true, false])
    },
    'reopen',
  ),

  a(
    'several handles are one store',
    'what one handle puts another gets',
    async ({ backend, second }) => {
      const other = await second()
      for (const [from, to, { digest, bytes }] of [
        [backend, other, words('from one')],
        [other, backend, words('from the other')],
      ] as const) {
        same(await to.blobs.has(MAIN, [digest]), [false])
        await from.blobs.put(MAIN, digest, bytes)
        same(await read(to, digest), hex(bytes))
        await to.blobs.put(MAIN, digest, bytes)
      }
    },
    'second',
  ),
]
