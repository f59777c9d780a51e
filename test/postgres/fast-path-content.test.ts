// Commits that bring nodes or refer to content take the fast path, and leave what the function would have left.

import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { maker, sha256 } from '../../src/conformance/material.ts'
import { hex } from '../../src/model/bytes.ts'
import { MAIN } from '../../src/model/ids.ts'
import type { ValueNode } from '../../src/model/value.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit, Guard, Outcome } from '../../src/ports/commit.ts'
import { later, tempDatabase } from '../support/engines.ts'
import { query } from '../support/postgres-database.ts'
import { until } from './until.ts'
import { isFunction, isPlain, watched } from './watched.ts'

const make = maker()

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const node = (text: string): ValueNode => ({ ref: sha256(bytesOf(text)), body: bytesOf(text) })
const digest = (text: string): string => hex(sha256(bytesOf(text)))
const onNode = (text: string): Guard => ({ kind: 'value', ref: node(text).ref })
const onBlob = (text: string): Guard => ({ kind: 'blob', digest: digest(text) })

interface Said {
  readonly guards?: readonly Guard[]
  readonly nodes?: readonly ValueNode[]
  readonly refs?: readonly string[]
}

/** A commit of one event. `since` makes the function look for an earlier sending, so such a commit never takes the fast path. */
const saying = ({ guards = [], nodes, refs }: Said, since?: number): Commit =>
  make.commit(MAIN, {
    guards,
    events: [{ ...make.draft(MAIN), ...(refs && { refs }) }],
    ...(nodes && { nodes }),
    ...(since !== undefined && { since }),
  })

interface Node {
  readonly url: string
  readonly backend: Backend
  readonly texts: string[]
}

/** A node that knows the head. The tenant has one node of a value and three blobs. */
async function writer(change?: (text: string) => string): Promise<Node> {
  const url = await tempDatabase()
  const texts: string[] = []
  const backend = await watched(url, (text) => texts.push(text), change)
  for (const text of ['blob', 'named', 'other']) await backend.blobs.put(MAIN, digest(text), bytesOf(text))
  await backend.commit([saying({ nodes: [node('old')] })])
  texts.length = 0
  return { url, backend, texts }
}

const ways = ({ texts }: Node) => ({ statements: texts.filter(isPlain).length, calls: texts.filter(isFunction).length })
const withoutTime = (outcomes: readonly Outcome[]) => outcomes.map((outcome) => ({ ...outcome, now: 0 }))

/** What the commits left of their content. */
const left = async ({ url }: Node) => ({
  nodes: await query(url, `select id, encode(ref, 'hex') as ref, convert_from(body, 'UTF8') as body from inkfast.nodes order by id`),
  refs: await query(url, 'select seq, ref from inkfast.refs order by seq, ref'),
  named: await query(url, `select encode(ref, 'hex') as ref, number from inkfast.named_nodes order by ref`),
  blobs: await query(url, 'select digest, state, number from inkfast.blobs order by digest'),
})

describe('content of commits', () => {
  /** The same batches, by the fast path or by the function. */
  const write = async (since?: number) => {
    const written = await writer()
    const { backend } = written
    const { number } = await backend.values.begin(MAIN)
    const gone = { tenant: MAIN, number, digests: [digest('blob'), digest('named')], before: Number.MAX_SAFE_INTEGER, seen: 0 }
    expect(await backend.blobs.condemn(gone)).toBe('condemned')
    written.texts.length = 0
    const batches: readonly (readonly Said[])[] = [
      [{ nodes: [node('a'), node('b')] }],
      [{ guards: [onBlob('blob')], refs: [`blob:${digest('blob')}`] }],
      [{ refs: [`blob:${digest('named')}`, 'value:x'] }, {}, { refs: ['value:y'] }],
      [{ guards: [onNode('old'), onNode('a')], nodes: [node('old'), node('c')] }, { nodes: [node('d')] }],
      [{ refs: [`blob:${digest('never put')}`] }],
    ]
    for (const batch of batches) {
      const outcomes = await backend.commit(batch.map((said) => saying(said, since)))
      expect(outcomes.map(({ ok }) => ok)).toEqual(batch.map(() => true))
    }
    expect(ways(written)).toEqual(since === undefined ? { statements: batches.length, calls: 0 } : { statements: 0, calls: batches.length })
    return left(written)
  }

  test('a statement leaves the nodes, references and notes that the function leaves', async () => {
    const found = await write()
    expect(found).toEqual(await write(0))
    expect(found.nodes).toHaveLength(5)
    expect(found.refs).toHaveLength(5)
    // The collection is told of the node that was there before it, and both condemned blobs are present again.
    expect(found.named).toEqual([{ ref: hex(node('old').ref), number: '1' }])
    expect(found.blobs).toMatchObject([{ state: 'present' }, { state: 'present' }, { state: 'present' }])
  })

  test.each([
    ['a node', { guards: [onNode('gone')], nodes: [node('a')] }],
    ['a blob', { guards: [onBlob('other'), onBlob('gone')], refs: [`blob:${digest('gone')}`] }],
  ])('%s that is not there is refused in the same words as by the function, and nothing is written', async (_, said) => {
    const written = await writer()
    const { backend } = written
    const [before, head] = [await left(written), await backend.journal.head(MAIN)]
    const commit = saying(said)
    const refused = await backend.commit([commit])
    expect(refused).toMatchObject([{ ok: false, refused: said.guards.at(-1), found: 0 }])
    expect(ways(written)).toEqual({ statements: 1, calls: 1 })
    expect(withoutTime(await backend.commit([{ ...commit, since: 0 }]))).toEqual(withoutTime(refused))
    expect(await left(written)).toEqual(before)
    expect(await backend.journal.head(MAIN)).toEqual(head)
  })
})

describe('a commit that waits for the head', () => {
  /** Commits while another transaction holds the head, changes something and lets go without moving it. */
  const during = async ({ url, backend }: Node, said: Said, sql: string): Promise<Outcome | undefined> => {
    const other = new Client(url)
    await other.connect()
    later(() => other.end())
    await other.query(`begin; select from inkfast.heads where tenant = 'main' for update`)
    const outcome = backend.commit([saying(said)])
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until('the commit waits', async () => (await query(url, waits)).length === 1)
    await other.query(sql)
    await other.query('commit')
    return (await outcome)[0]
  }

  const collected = `delete from inkfast.nodes`

  test('finds that a node was collected meanwhile', async () => {
    const written = await writer()
    expect(await during(written, { guards: [onNode('old')] }, collected)).toMatchObject({ ok: false, refused: onNode('old') })
    expect(ways(written)).toEqual({ statements: 1, calls: 1 })
  })

  test('would refer to a collected node if it looked with its own snapshot: the control', async () => {
    const written = await writer((text) =>
      text.replace(/inkfast\.guard_content\(.*?guard_list\) is null/, 'exists (select from inkfast.nodes s where s.tenant = m.tenant)'),
    )
    expect(await during(written, { guards: [onNode('old')] }, collected)).toMatchObject({ ok: true })
  })

  test('numbers its nodes behind those that were written meanwhile', async () => {
    const written = await writer()
    const added = `insert into inkfast.nodes (tenant, id, ref, at, body) select 'main', 2, '\\x${hex(node('meanwhile').ref)}', 0, 'meanwhile'`
    expect(await during(written, { nodes: [node('mine')] }, added)).toMatchObject({ ok: true })
    expect(ways(written)).toEqual({ statements: 1, calls: 0 })
    expect((await left(written)).nodes).toMatchObject([{ body: 'old' }, { body: 'meanwhile' }, { id: '3', body: 'mine' }])
  })
})
