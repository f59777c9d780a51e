// Garbage collection of nodes: it sees them newest first, learns of the older ones that commits name meanwhile, and removes by id.

import { ok, rejects, deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import type { ValueNode } from '../../model/value.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit, Guard } from '../../ports/commit.ts'
import type { ScannedNode } from '../../ports/values.ts'
import { group } from '../case.ts'
import { MAIN, OTHER, sha256 } from '../material.ts'
import { save, saved, send } from './expect.ts'

const a = group('collections')

const seen = 'a collection sees every node of the tenant, newest first'
const noted = 'a collection learns of every older node that a commit names or writes again'
const removed = 'a collection removes the nodes it names, and only while nothing was named that it has not seen'
const referred = 'references of events are kept until the event is erased'
const walled = 'a collection is its own tenant’s'

const words = (text: string): ValueNode => {
  const body = new TextEncoder().encode(text)
  return { ref: sha256(body), body }
}
const [one, two, three, late] = ['one', 'two', 'three', 'late'].map(words) as [ValueNode, ValueNode, ValueNode, ValueNode]

const holding = (nodes: readonly ValueNode[], guards: readonly Guard[] = [], tenant = MAIN): Commit => ({
  tenant,
  guards,
  events: [],
  changes: [],
  nodes,
})
const naming = (node: ValueNode): Commit => holding([], [{ kind: 'value', ref: node.ref }])

const ALL = Number.MAX_SAFE_INTEGER
const scanned = async (backend: Backend, upTo = ALL, limit = 100, tenant = MAIN): Promise<readonly ScannedNode[]> =>
  backend.values.scan(tenant, upTo, limit)
const refs = (nodes: readonly { readonly ref: Uint8Array }[]): readonly string[] => nodes.map(({ ref }) => hex(ref))
const sorted = (nodes: readonly Uint8Array[]): readonly string[] => nodes.map(hex).sort()
const idOf = async (backend: Backend, node: ValueNode): Promise<number> => {
  const found = (await scanned(backend)).find(({ ref }) => hex(ref) === hex(node.ref))
  ok(found, 'the node is there')
  return found.id
}
const bodies = async (backend: Backend, nodes: readonly ValueNode[], tenant = MAIN): Promise<readonly boolean[]> =>
  (
    await backend.values.get(
      tenant,
      nodes.map(({ ref }) => ref),
    )
  ).map((body) => body !== undefined)

export const collections = [
  a(seen, 'nodes are scanned newest first, page by page, with their sizes', async ({ backend }) => {
    same(await scanned(backend), [])
    for (const node of [one, two, three]) saved(await send(backend, holding([node])))
    const all = await scanned(backend)
    same(refs(all), refs([three, two, one]))
    same(
      all.map(({ bytes }) => bytes),
      [5, 3, 3],
    )
    same(refs(await scanned(backend, ALL, 2)), refs([three, two]))
    same(refs(await scanned(backend, (all[1]?.id ?? 0) - 1, 2)), refs([one]))
  }),

  a(seen, 'nodes of one commit have growing ids, children first', async ({ backend }) => {
    saved(await send(backend, holding([one, two, three])))
    same(refs(await scanned(backend)), refs([three, two, one]))
  }),

  a(noted, 'older nodes that are named or carried by a commit are noted once, newer ones are not', async ({ backend, make }) => {
    saved(await send(backend, holding([one, two, three])))
    const { number, top } = await backend.values.begin(MAIN)
    same(top, (await scanned(backend))[0]?.id)
    same(await backend.values.named(MAIN, number), [])
    saved(await send(backend, naming(one)))
    saved(await send(backend, holding([late])))
    saved(await send(backend, naming(late)))
    same(sorted(await backend.values.named(MAIN, number)), sorted([one.ref]))
    saved(await send(backend, { ...make.commit(MAIN), nodes: [two, late] }))
    saved(await send(backend, naming(one)))
    same(sorted(await backend.values.named(MAIN, number)), sorted([one.ref, two.ref]))
  }),

  a(noted, 'a refused commit notes nothing', async ({ backend }) => {
    saved(await send(backend, holding([one])))
    const { number } = await backend.values.begin(MAIN)
    const outcome = await send(
      backend,
      holding(
        [],
        [
          { kind: 'value', ref: one.ref },
          { kind: 'value', ref: late.ref },
        ],
      ),
    )
    same(outcome.ok, false)
    same(await backend.values.named(MAIN, number), [])
  }),

  a(removed, 'nodes are removed by their ids, and others stay', async ({ backend }) => {
    saved(await send(backend, holding([one, two, three])))
    const { number } = await backend.values.begin(MAIN)
    same(await backend.values.remove(MAIN, number, [await idOf(backend, two)], 0), 'removed')
    same(await bodies(backend, [one, two, three]), [true, false, true])
    await backend.values.end(MAIN, number)
    saved(await send(backend, holding([two])))
    same(await bodies(backend, [one, two, three]), [true, true, true])
  }),

  a(seen, 'nodes written after the newest ones were removed have higher ids', async ({ backend }) => {
    saved(await send(backend, holding([one, two, three])))
    const { number, top } = await backend.values.begin(MAIN)
    const ids = (await scanned(backend)).map(({ id }) => id)
    same(await backend.values.remove(MAIN, number, ids, 0), 'removed')
    saved(await send(backend, holding([late])))
    ok((await idOf(backend, late)) > top, 'the collection does not take it for an old one')
  }),

  a(removed, 'nothing is removed while a named node has not been seen', async ({ backend }) => {
    saved(await send(backend, holding([one, two, three])))
    const { number } = await backend.values.begin(MAIN)
    saved(await send(backend, naming(three)))
    const id = await idOf(backend, two)
    same(await backend.values.remove(MAIN, number, [id], 0), 'named')
    same(await bodies(backend, [one, two, three]), [true, true, true])
    same(await backend.values.remove(MAIN, number, [id], 1), 'removed')
    same(await bodies(backend, [one, two, three]), [true, false, true])
  }),

  a(removed, 'a collection that was replaced or has ended removes nothing', async ({ backend }) => {
    saved(await send(backend, holding([one])))
    const id = await idOf(backend, one)
    const first = await backend.values.begin(MAIN)
    const second = await backend.values.begin(MAIN)
    ok(second.number > first.number, 'numbers grow')
    same(await backend.values.remove(MAIN, first.number, [id], 0), 'replaced')
    await backend.values.end(MAIN, first.number)
    await backend.values.end(MAIN, second.number)
    same(await backend.values.remove(MAIN, second.number, [id], 0), 'replaced')
    same(await bodies(backend, [one]), [true])
  }),

  a(referred, 'references are listed in order, and go with the payload', async ({ backend, make }) => {
    same(await backend.values.references(MAIN, undefined, 10), [])
    const events = [make.draft(MAIN), make.draft(MAIN)].map((event, i) => ({ ...event, refs: i === 0 ? ['b', 'a'] : ['c'] }))
    await save(backend, make.commit(MAIN, { events }))
    const all = [
      { seq: 1, ref: 'a' },
      { seq: 1, ref: 'b' },
      { seq: 2, ref: 'c' },
    ]
    same(await backend.values.references(MAIN, undefined, 10), all)
    same(await backend.values.references(MAIN, all[0], 1), [all[1]])
    same(await backend.values.references(OTHER, undefined, 10), [])
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'erase', seqs: [1] }] }))
    same(await backend.values.references(MAIN, undefined, 10), [all[2]])
  }),

  a(walled, 'another tenant’s nodes are neither scanned nor removed', async ({ backend }) => {
    saved(await send(backend, holding([one, two])))
    saved(await send(backend, holding([two, three], [], OTHER)))
    same(refs(await scanned(backend, ALL, 100, OTHER)), refs([three, two]))
    const { number } = await backend.values.begin(OTHER)
    const ids = (await scanned(backend)).map(({ id }) => id)
    await backend.values.remove(OTHER, number, [...ids, ...(await scanned(backend, ALL, 100, OTHER)).map(({ id }) => id)], 0)
    same(await bodies(backend, [one, two]), [true, true])
    same(await bodies(backend, [two, three], OTHER), [false, false])
  }),

  a(walled, 'a closed tenant is not collected', async ({ backend, make }) => {
    saved(await send(backend, holding([one])))
    const { number } = await backend.values.begin(MAIN)
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'state', state: 'suspended' }] }))
    const closed = { code: 'TENANT_CLOSED' }
    await rejects(backend.values.scan(MAIN, ALL, 10), closed)
    await rejects(backend.values.begin(MAIN), closed)
    await rejects(backend.values.remove(MAIN, number, [1], 0), closed)
  }),
]
