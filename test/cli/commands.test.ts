// Each command on a sound store: what it prints, as a table and as JSON.

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { storePath } from '../../src/cli/store.ts'
import { open } from '../../src/index.ts'
import { folder, inkHere as ink, lines, MARKER, type SmallStore, smallStore, withDatabase } from './support.ts'

let store: SmallStore

beforeAll(async () => {
  store = await smallStore()
})

describe('events', () => {
  test('events shows the last events, oldest first, in aligned columns', async () => {
    const { code, out } = await ink(['events', store.path])
    expect(code).toBe(0)
    const [head, ...rows] = lines(out)
    expect(head).toMatch(/^ +seq {2}time \(UTC\) +type +session +actor +data$/)
    expect(rows.map((row) => Number(row.slice(0, 6)))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    const at = (head as string).indexOf('type')
    expect(rows.every((row) => row[at - 1] === ' ' && /[a-z]/.test(row[at] as string))).toBe(true)
    expect(out).toContain('support/4711')
    expect(out).toContain('user_ada')
  })

  test('events prints one event a line with --json', async () => {
    const { code, out } = await ink(['events', store.path, '--json'])
    expect(code).toBe(0)
    const events = lines(out).map((line) => JSON.parse(line))
    expect(events.map((e) => e.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(events[4]).toMatchObject({ type: 'tool.returned', data: { result: MARKER }, actor: 'user_ada', tenant: 'main' })
  })

  test.each([
    [
      ['--session', 'support/4712'],
      [7, 8, 9],
    ],
    [
      ['--type', 'plan.*', '--type', 'model.called'],
      [2, 3, 4, 8],
    ],
    [
      ['--actor', 'user_ada', '--last', '2'],
      [5, 6],
    ],
    [
      ['--first', '2'],
      [1, 2],
    ],
    [
      ['--after', '2', '--before', '5'],
      [3, 4],
    ],
    [['--since', '1h', '--last', '1'], [9]],
    [['--until', '2020-01-01T00:00:00Z'], []],
    [
      ['--tenant', 'acme'],
      [1, 2],
    ],
  ] as const)('events narrows by %j', async (filter, seqs) => {
    const { code, out } = await ink(['events', store.path, '--json', ...filter])
    expect(code).toBe(0)
    expect(lines(out).map((line) => JSON.parse(line).seq)).toEqual(seqs)
  })

  test('events lets no control character of a payload reach the terminal, in a table or in JSON', async () => {
    const hostile = /[\p{Cc}\u202e]/u
    for (const format of [[], ['--json']]) {
      const { out } = await ink(['events', store.path, ...format])
      expect(hostile.test(out.replaceAll('\n', ''))).toBe(false)
      expect(out).toContain('\\u001b]0;owned\\u0007')
      expect(out).toContain('\\u009b31m\\u202e')
    }
    const { out } = await ink(['events', store.path, '--type', 'note.made', '--json'])
    expect(JSON.parse(out).data.text).toBe('\u001b]0;owned\u0007\u009b31m\u202e')
  })

  test('events takes the store from INKFAST_URL when none is named', async () => {
    const { code, out } = await ink(['events', '--json', '--last', '1'], { INKFAST_URL: store.path })
    expect(code).toBe(0)
    expect(JSON.parse(out).seq).toBe(9)
  })
})

describe('sessions', () => {
  test('sessions lists the newest first, with a cursor to go on', async () => {
    const first = JSON.parse((await ink(['sessions', store.path, '--json', '--last', '1'])).out)
    expect(first.items.map((s: { key: string }) => s.key)).toEqual(['support/4712'])
    const next = JSON.parse((await ink(['sessions', 'list', store.path, '--json', '--last', '1', '--cursor', first.cursor])).out)
    expect(next.items.map((s: { key: string }) => s.key)).toEqual(['support/4711'])
    expect(next.cursor).toBeUndefined()
  })

  test('sessions narrows by state and owner', async () => {
    const { out } = await ink(['sessions', store.path, '--state', 'archived'])
    expect(lines(out)).toHaveLength(2)
    expect(out).toContain('support/4712')
    const owned = JSON.parse((await ink(['sessions', store.path, '--owner', 'user_ada', '--json'])).out)
    expect(owned.items).toHaveLength(1)
  })

  test('sessions narrows by branch state, relation and parent', async () => {
    const other = await smallStore()
    await using writer = await open(other.path)
    const parent = await writer.session('support/4711')
    await parent.fork({ at: (await writer.head()).seq, key: 'support/4711-b' })
    for (const filter of [
      ['--branch', 'branch'],
      ['--relation', 'fork'],
      ['--parent', 'support/4711'],
    ]) {
      const { items } = JSON.parse((await ink(['sessions', 'list', other.path, '--json', ...filter])).out)
      expect(items.map((s: { key: string }) => s.key)).toEqual(['support/4711-b'])
    }
    expect((await ink(['sessions', other.path, '--branch', 'twig'])).code).toBe(2)
  })

  test('sessions shows one by its key or its id, the store taken from INKFAST_URL', async () => {
    const { code, out } = await ink(['sessions', 'show', 'support/4711', '--json'], { INKFAST_URL: store.path })
    expect(code).toBe(0)
    const { session, events } = JSON.parse(out)
    expect(session).toMatchObject({ key: 'support/4711', title: 'Order 4711', state: 'open' })
    expect(events).toMatchObject({ count: 6, first: 1, last: 6, types: { 'plan.changed': 3 } })
    expect((await ink(['sessions', 'show', store.path, session.id])).out).toContain('Order 4711')
  })
})

describe('verify', () => {
  test('verify covers every tenant and says what the answer rests on', async () => {
    const { code, out } = await ink(['verify', store.path])
    expect(code).toBe(0)
    expect(out).toMatch(/✓ +acme +2 +2 /)
    expect(out).toMatch(/✓ +main +9 +9 /)
    expect(out).toContain('every page is sound')
    expect(out).toContain('chain alone, which cannot reveal a truncated journal')
  })

  test('verify lists erasures with seq, time, actor and reason', async () => {
    const other = await smallStore()
    const writing = await open(other.path)
    await writing.as('clerk').erase({ seq: other.marked, reason: 'order 7' })
    await writing.close()
    const { code, out } = await ink(['verify', other.path])
    expect(code).toBe(0)
    expect(out).toContain('tenant main has 1 erasure; compare with your orders:')
    expect(out).toMatch(/seq 10 {2}[\d-]+ [\d:]+ {2}clerk: order 7 \(1 payload\)/)
  })

  test('verify holds the journal against receipts', async () => {
    const file = join(dirname(store.path), 'receipts.json')
    writeFileSync(file, JSON.stringify(store.receipts))
    const { code, out } = await ink(['verify', store.path, '--receipts', file, '--json'])
    expect(code).toBe(0)
    const report = JSON.parse(out)
    expect(report).toMatchObject({ intact: true, pages: { sound: true } })
    expect(report.tenants.map((r: { anchors: unknown }) => r.anchors)).toEqual([{ receipts: 1 }, { receipts: 6 }])
  })

  test('verify looks at one tenant, and at the chain only, when told to', async () => {
    const report = JSON.parse((await ink(['verify', store.path, '--tenant', 'acme', '--no-pages', '--json'])).out)
    expect(report.tenants).toHaveLength(1)
    expect(report.pages).toBeUndefined()
  })
})

test('rebuild --check finds the rows equal to the fold', async () => {
  const { code, out } = await ink(['rebuild', store.path, '--check', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ equal: true, replaced: false, tenants: [{ tenant: 'acme' }, { tenant: 'main', events: 9 }] })
})

test('du tells bytes, rows, tenants and types', async () => {
  const { code, out } = await ink(['du', store.path, '--json'])
  expect(code).toBe(0)
  const report = JSON.parse(out)
  expect(report.rows).toMatchObject({ events: 11, sessions: 3 })
  expect(report.bytes.total).toBeGreaterThan(4096)
  expect(report.tenants.find((u: { tenant: string }) => u.tenant === 'main')).toMatchObject({ events: 9, erased: 0 })
  const table = await ink(['du', store.path, '--top', '2'])
  expect(table.code).toBe(0)
  expect(table.out).toContain('… and 6 more; show them with --top 8')
})

test('migrate --plan shows the applied migrations and changes nothing', async () => {
  const { code, out } = await ink(['migrate', store.path, '--plan', '--json'])
  expect(code).toBe(0)
  const report = JSON.parse(out)
  expect(report).toMatchObject({ plan: true, applied: 0, found: report.needed })
  expect(report.migrations[0]).toMatchObject({ number: 1, name: 'journal', checksum: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect((await ink(['migrate', store.path])).out).toContain('up to date')
})

describe('doctor', () => {
  test('doctor finds a sound store sound', async () => {
    const { code, out } = await ink(['doctor', store.path, '--json'])
    expect(code).toBe(0)
    const { ok, findings } = JSON.parse(out)
    expect(ok).toBe(true)
    expect(findings.map((f: { name: string }) => f.name)).toEqual(
      expect.arrayContaining(['node', 'sqlite', 'folder', 'file', 'schema', 'log', 'disk', 'opens', 'health', 'pages', 'journal main']),
    )
    expect(findings.filter((f: { state: string }) => f.state !== 'ok')).toEqual([])
  })

  test('doctor and du read a file: URL without a slash as a path of the working folder', () => {
    expect(storePath('file:my%20store.db')).toBe(join(process.cwd(), 'my store.db'))
  })

  test('doctor warns of a clock that is far ahead of the file, and says what to do', async () => {
    const path = `${folder()}/agents.db`
    await (await open({ url: path, logger: false, clock: { now: () => Date.now() - 31 * 86_400_000 } })).close()
    const { code, out } = await ink(['doctor', path])
    expect(code).toBe(0)
    expect(out).toMatch(/! clock +the clock of this process shows .*, 744 h more than the newest time that the store is sure of/)
    expect(out).toMatch(/→ If nobody used the store meanwhile, do nothing/)
    expect(out).toMatch(/✓ health +ok/)
  })

  test('doctor warns of files left by a store that was never finished, and of events from the future', async () => {
    const other = await smallStore()
    writeFileSync(`${other.path}.new-0f5a`, 'half')
    withDatabase(other.path, (db) => {
      db.exec('drop trigger events_stay')
      db.prepare('update events set at = ?').run(Date.now() + 86_400_000)
    })
    const { code, out } = await ink(['doctor', other.path])
    expect(code).toBe(1)
    expect(out).toContain('! leftovers')
    expect(out).toMatch(/! events main +in the future: seq \d+ [a-z.]+ .* ahead/)
    expect(out).toMatch(/! guards .* the trigger events_stay is missing/)
    expect(out).toMatch(/✗ pages +the trigger events_stay is missing/)
  })

  test.each([
    [
      'a foreign trigger',
      'create trigger evil before insert on events begin select raise(ignore); end',
      /✗ pages +the trigger evil on events is not ours/,
    ],
    ['a view on a table', 'create view peek as select payload from events', /✗ pages +the view peek on events is not ours/],
    ['a missing index', 'drop index work_by_due', /✗ opens .* the index work_by_due is missing/],
    ['a missing table', 'drop table renewals', /✗ opens .* the table renewals is missing/],
  ])('doctor reports %s and ends with 1', async (_, sql, found) => {
    const { path } = await smallStore()
    withDatabase(path, (db) => db.exec(sql))
    const before = readFileSync(path)
    const { code, out } = await ink(['doctor', path])
    expect(code).toBe(1)
    expect(out).toMatch(found)
    expect(readFileSync(path).equals(before)).toBe(true)
  })
})
