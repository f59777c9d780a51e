// Commits that take a name: the statement looks itself whether the name is free, also as an erased one.

import { expect, test } from 'vitest'
import { maker, put } from '../../src/conformance/material.ts'
import { MAIN } from '../../src/model/ids.ts'
import type { Commit, Outcome } from '../../src/ports/commit.ts'
import { tempDatabase } from '../support/engines.ts'
import { isFunction, isPlain, watched } from './watched.ts'

const make = maker()

const free = (id: string) => ({ kind: 'row', table: 'names', id, revision: 0 }) as const

/** Takes a name, as the kernel does: neither it nor the digest of an erased one is there. */
const taking = (...names: readonly string[]): Commit =>
  make.commit(MAIN, {
    guards: names.flatMap((name) => [free(name), free(`held:${name}`)]),
    changes: names.map((name) => put('names', name, { target: make.id() })),
  })

/** A name that was erased: only its digest is left. */
const erased = (name: string): Commit => make.commit(MAIN, { guards: [], changes: [put('names', `held:${name}`, { target: make.id() })] })

/** A node that wrote last, on a database in which another one has erased a name. It knows nothing of names. */
async function node(change?: (text: string) => string) {
  const url = await tempDatabase()
  const other = await watched(url, () => {})
  await other.commit([erased('gone'), taking('taken')])
  const texts: string[] = []
  const backend = await watched(url, (text) => texts.push(text), change)
  await backend.commit([make.commit(MAIN)])
  texts.length = 0
  return { backend, other, texts }
}

const withoutTime = (outcomes: readonly Outcome[]) => outcomes.map((outcome) => ({ ...outcome, now: 0 }))

test('one name and several are taken by the statement', async () => {
  const { backend, texts } = await node()
  const outcomes = [
    ...(await backend.commit([taking('a')])),
    ...(await backend.commit([taking('b', 'c')])),
    ...(await backend.commit([taking('d'), make.commit(MAIN), taking('e')])),
  ]
  expect(outcomes.every(({ ok }) => ok)).toBe(true)
  expect([texts.filter(isPlain).length, texts.filter(isFunction).length]).toEqual([3, 0])
  for (const name of ['a', 'b', 'c', 'd', 'e']) expect(await backend.rows.get(MAIN, 'names', name)).toBeDefined()
})

test.each(['gone', 'taken'])('a name that is %s is refused in the same words as by the function, and nothing is written', async (name) => {
  const { backend, other, texts } = await node()
  for (const batch of [[taking(name)], [taking('a', name)]]) {
    const head = await backend.journal.head(MAIN)
    const refused = await backend.commit(batch)
    expect(refused).toMatchObject([{ ok: false, refused: { table: 'names' } }])
    expect(await backend.journal.head(MAIN)).toEqual(head)
    // Another node has written since, so this one hears from the function.
    expect(withoutTime(await other.commit(batch))).toEqual(withoutTime(refused))
  }
  expect([texts.filter(isPlain).length, texts.filter(isFunction).length]).toEqual([2, 2])
  // The neighbours of a refused commit are saved.
  expect(await backend.commit([taking('b'), taking(name), taking('c')])).toMatchObject([{ ok: true }, { ok: false }, { ok: true }])
})

test('without that look, an erased name is taken again: the control', async () => {
  const { backend } = await node((text) => text.replace('s.id between f.id and f.id', 'false'))
  expect(await backend.commit([taking('gone')])).toMatchObject([{ ok: true }])
})
