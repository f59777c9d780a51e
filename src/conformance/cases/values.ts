// Nodes of values: they are written in commits, under their digest, per tenant. The kernel checks digests; here the bytes are compared.

import { rejects, deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import { tenantId } from '../../model/ids.ts'
import type { ValueNode } from '../../model/value.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit, Guard } from '../../ports/commit.ts'
import { group } from '../case.ts'
import { MAIN, OTHER, sha256 } from '../material.ts'
import { refused, save, saved, send, seqsOf } from './expect.ts'

const a = group('values')

const kept = 'nodes are kept under their ref, as the commit carried them'
const guarded = 'a commit that names a node is refused where the tenant has no such node'
const together = 'a commit is all or nothing, with its nodes'
const walled = 'a node is its own tenant’s'
const shut = 'a tenant that is not active reads and writes no node'

const node = (body: Uint8Array): ValueNode => ({ ref: sha256(body), body })
const words = (text: string): ValueNode => node(new TextEncoder().encode(text))

/** Text and a first byte of every value: a backend may compress nodes, and must not take one for another. */
const compressible = [511, 512, 1001, 4096, 60_000].flatMap((length) =>
  [1, 2, 63, 64, 65, 0x82, 0xc2, 255].map((first) => node(Uint8Array.from({ length }, (_, i) => (i === 0 ? first : 97 + ((i * i) % 7))))),
)

/** One byte, all byte values, bytes that are not UTF-8, and more than a page. */
const samples: readonly ValueNode[] = [
  node(Uint8Array.of(1)),
  node(Uint8Array.from({ length: 256 }, (_, i) => i)),
  node(Uint8Array.from([0xff, 0xfe, 0, 0xc3, 0x28, 0x5c, 0x78])),
  node(Uint8Array.from({ length: 20_011 }, (_, i) => (i * 7919) >> 3)),
]

const holding = (nodes: readonly ValueNode[], guards: readonly Guard[] = [], tenant = MAIN): Commit => ({
  tenant,
  guards,
  events: [],
  changes: [],
  nodes,
})

const has = ({ ref }: ValueNode): Guard => ({ kind: 'value', ref })

/** Returns hex, so that only the bytes are compared and a difference is readable. */
const read = async (backend: Backend, nodes: readonly ValueNode[], tenant = MAIN): Promise<readonly (string | undefined)[]> =>
  (
    await backend.values.get(
      tenant,
      nodes.map(({ ref }) => ref),
    )
  ).map((body) => body && hex(body))

const bodies = (nodes: readonly ValueNode[]): readonly string[] => nodes.map(({ body }) => hex(body))

export const values = [
  a(kept, 'nodes of a commit are given back, byte for byte', async ({ backend }) => {
    saved(await send(backend, holding(samples)))
    same(await read(backend, samples), bodies(samples))
  }),

  a(kept, 'nodes that compress well are given back, byte for byte', async ({ backend }) => {
    saved(await send(backend, holding(compressible)))
    same(await read(backend, compressible), bodies(compressible))
  }),

  a(kept, 'nodes that are there already are left as they are', async ({ backend, make }) => {
    const [one, two] = [words('one'), words('two')]
    saved(await send(backend, holding([one])))
    saved(await send(backend, { ...make.commit(MAIN), nodes: [one, two] }))
    for (const outcome of await backend.commit([holding([one, two]), holding([two, one]), holding([words('three')])])) saved(outcome)
    same(await read(backend, [one, two, words('three')]), bodies([one, two, words('three')]))
  }),

  a(kept, 'several are asked for at once, and given in the order asked', async ({ backend }) => {
    const [one, two, none] = [words('one'), words('two'), words('none')]
    same(await read(backend, []), [])
    same(await read(backend, [one]), [undefined])
    await send(backend, holding([one, two]))
    same(await read(backend, [none, two, one, none, two]), [undefined, hex(two.body), hex(one.body), undefined, hex(two.body)])
    const many = Array.from({ length: 700 }, (_, i) => words(`many ${i}`))
    saved(await send(backend, holding(many)))
    same(await read(backend, many), bodies(many))
  }),

  a(kept, 'a node that is part of a larger buffer is that part and nothing else', async ({ backend }) => {
    const whole = new TextEncoder().encode('before|the part|behind')
    const part = node(whole.subarray(7, 15))
    saved(await send(backend, holding([part])))
    whole.fill(0)
    same(await read(backend, [part]), [hex(new TextEncoder().encode('the part'))])
  }),

  a(kept, 'nodes without events write no event', async ({ backend, make }) => {
    await save(backend, make.commit(OTHER))
    for (const tenant of [MAIN, OTHER]) saved(await send(backend, holding(samples, [], tenant)))
    same([await seqsOf(backend, MAIN), await seqsOf(backend, OTHER)], [[], [1]])
    same((await save(backend, make.commit(MAIN)))[0]?.seq, 1)
  }),

  a(guarded, 'a commit that names a node the tenant has is saved', async ({ backend, make }) => {
    saved(await send(backend, holding([words('below')])))
    const receipts = saved(await send(backend, { ...make.commit(MAIN, { guards: [has(words('below'))] }), nodes: [words('above')] }))
    same(receipts.length, 1)
    same(await read(backend, [words('above')]), bodies([words('above')]))
  }),

  a(guarded, 'a commit that names a node the tenant has not is refused', async ({ backend, make }) => {
    saved(await send(backend, holding([words('there')])))
    await send(backend, holding([words('theirs')], [], OTHER))
    for (const missing of [words('nowhere'), words('theirs')]) {
      // Whether the data of a caller names it makes no difference to a backend.
      for (const guard of [has(missing), { ...has(missing), given: true } as Guard])
        refused(await send(backend, make.commit(MAIN, { guards: [has(words('there')), guard] })), guard, 0)
    }
    same((await backend.journal.head(MAIN)).seq, 0)
  }),

  a(guarded, 'commits of one batch see the nodes of those before them', async ({ backend, make }) => {
    const below = words('below')
    const outcomes = await backend.commit([holding([below]), { ...make.commit(MAIN, { guards: [has(below)] }), nodes: [words('above')] }])
    for (const outcome of outcomes) saved(outcome)
    const guard = has(words('later'))
    const [early] = await backend.commit([make.commit(MAIN, { guards: [guard] }), holding([words('later')])])
    refused(early, guard, 0)
  }),

  a(together, 'a refused commit leaves none of its nodes', async ({ backend, make }) => {
    const guard = has(words('nowhere'))
    const [first, second] = await backend.commit([
      { ...make.commit(MAIN, { guards: [guard] }), nodes: [words('lost')] },
      { ...make.commit(MAIN), nodes: [words('saved')] },
    ])
    refused(first, guard, 0)
    saved(second)
    same(await read(backend, [words('lost'), words('saved')]), [undefined, hex(words('saved').body)])
  }),

  a(walled, 'a node that one tenant has another has not', async ({ backend, make }) => {
    saved(await send(backend, holding([words('mine')])))
    for (const tenant of [OTHER, tenantId('MAIN')]) {
      same(await read(backend, [words('mine')], tenant), [undefined])
      await save(backend, make.commit(tenant))
      same(await read(backend, [words('mine')], tenant), [undefined], 'nor once it has written')
    }
    saved(await send(backend, holding([words('mine')], [], OTHER)))
    same(await read(backend, [words('mine')], OTHER), bodies([words('mine')]))
  }),

  a(shut, 'a closed tenant is refused, and has its nodes when it comes back', async ({ backend, make }) => {
    const turn = (state: 'active' | 'suspended') => save(backend, make.commit(MAIN, { changes: [{ kind: 'state', state }] }))
    saved(await send(backend, holding([words('mine')])))
    await turn('suspended')
    await rejects(backend.values.get(MAIN, [words('mine').ref]), { code: 'TENANT_CLOSED' })
    refused(await send(backend, holding([words('late')])), 'tenant', 'suspended')
    await turn('active')
    same(await read(backend, [words('mine'), words('late')]), [hex(words('mine').body), undefined])
  }),

  a(
    'what was acknowledged is there after opening again',
    'nodes are there after opening again, byte for byte',
    async ({ backend, reopen }) => {
      saved(await send(backend, holding(samples)))
      same(await read(await reopen(), samples), bodies(samples))
    },
    'reopen',
  ),

  a(
    'several handles are one store',
    'a node that one handle wrote another reads and names',
    async ({ backend, second, make }) => {
      const other = await second()
      saved(await send(backend, holding([words('shared')])))
      same(await read(other, [words('shared')]), bodies([words('shared')]))
      saved(await send(other, make.commit(MAIN, { guards: [has(words('shared'))] })))
    },
    'second',
  ),
]
