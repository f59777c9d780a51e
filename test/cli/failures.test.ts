// What goes wrong, and how it ends: a number that scripts can rely on and one line that says what to do.

import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { folder, inkHere as ink, MARKER, smallStore, tamper, withDatabase } from './support.ts'

const PAGE = 4096

const readers = [['events'], ['tail'], ['sessions'], ['runs'], ['verify'], ['rebuild', '--check'], ['du'], ['migrate']] as const

const call = ([name, ...rest]: readonly string[], path: string, ...more: readonly string[]) => ink([name as string, path, ...rest, ...more])

describe.each(readers.map((command) => ({ command, name: command[0] })))('$name', ({ command }) => {
  test('a command ends with 3 where there is no file, creates none, and says what to do', async () => {
    const path = join(folder(), 'none.db')
    const { code, out, err } = await call(command, path)
    expect([code, out]).toEqual([3, ''])
    expect(err).toMatch(/^inkfast: There is no store at .*Check the path.*\n$/)
    expect(existsSync(path)).toBe(false)
  })

  test('a command ends with 4 on a file that is no database', async () => {
    const path = join(folder(), 'notes.txt')
    writeFileSync(path, 'these are not the pages you are looking for\n'.repeat(200))
    const { code, out } = await call(command, path, '--json')
    expect(code).toBe(4)
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'NOT_A_DATABASE', kind: 'corrupt', details: { path } } })
  })
})

test('a missing folder ends with 3', async () => {
  const { code, err } = await ink(['verify', join(folder(), 'no', 'agents.db')])
  expect(code).toBe(3)
  expect(err).toContain('Create the folder first')
})

test('an empty file and a database of another application end with 4', async () => {
  const empty = join(folder(), 'empty.db')
  writeFileSync(empty, '')
  expect((await ink(['events', empty])).code).toBe(4)
  const other = join(folder(), 'other.db')
  withDatabase(other, (db) => db.exec('create table songs (title text)'))
  expect((await ink(['events', other])).code).toBe(4)
})

test("migrate makes no store of somebody's empty database", async () => {
  const path = join(folder(), 'blank.db')
  withDatabase(path, (db) => db.exec('pragma journal_mode = delete; create table t (a); drop table t'))
  for (const command of ['migrate', 'events']) expect((await ink([command, path])).code).toBeGreaterThan(2)
  withDatabase(path, (db) => expect(db.prepare('select count(*) as n from sqlite_schema').get()).toEqual({ n: 0 }))
})

test('a newer schema ends with 5 and is left alone', async () => {
  const { path } = await smallStore()
  withDatabase(path, (db) => db.exec('pragma user_version = 99'))
  for (const words of [
    ['verify', path],
    ['migrate', path],
  ]) {
    const { code, err } = await ink(words)
    expect(code).toBe(5)
    expect(err).toContain('Install a newer inkfast')
  }
  const { code, out } = await ink(['doctor', path])
  expect(code).toBe(1)
  expect(out).toContain('Install a newer inkfast')
})

describe('verify', () => {
  test('verify ends with 1 and names the one event that was changed', async () => {
    const { path, marked } = await smallStore()
    tamper(path)
    const { code, out } = await ink(['verify', path])
    expect(code).toBe(1)
    expect(out).toContain(`tenant main is not intact, first at seq ${marked}`)
    expect(out).toContain(`seq ${marked}  corrupt: the payload`)
    expect(out).toContain('What to do: keep a copy of this file')
    const report = JSON.parse((await ink(['verify', path, '--json'])).out)
    expect(report.intact).toBe(false)
    expect(report.tenants.map((r: { tenant: string; intact: boolean }) => [r.tenant, r.intact])).toEqual([
      ['acme', true],
      ['main', false],
    ])
  })

  test('verify sees a cut tail by receipts, and only by receipts', async () => {
    const { path, receipts } = await smallStore()
    const file = join(dirname(path), 'receipts.ndjson')
    writeFileSync(file, receipts.map((r) => JSON.stringify(r)).join('\n'))
    withDatabase(path, (db) => {
      const guard = db.prepare("select sql from sqlite_schema where name = 'events_remain'").get()?.sql
      db.exec(`drop trigger events_remain; delete from events where tenant = 'main' and seq > 6; ${guard}`)
      db.exec("update heads set seq = 6, hash = (select hash from events where tenant = 'main' and seq = 6) where tenant = 'main'")
    })
    expect((await ink(['verify', path])).code).toBe(0)
    const { code, out } = await ink(['verify', path, '--receipts', file])
    expect(code).toBe(1)
    expect(out).toContain('seq 8  missing: a receipt names this event')
  })

  test('verify looks for a tenant that only the receipts know', async () => {
    const { path, receipts } = await smallStore()
    const file = join(dirname(path), 'receipts.json')
    writeFileSync(file, JSON.stringify({ receipts: [{ ...receipts[0], tenant: 'gone' }] }))
    const { code, out } = await ink(['verify', path, '--receipts', file])
    expect(code).toBe(1)
    expect(out).toContain('tenant gone is not intact')
  })

  test('verify ends with 4 when a page is damaged, names the last event that could be read, and says what the pages say', async () => {
    const path = join(folder(), 'agents.db')
    {
      await using store = await open(path)
      const note = (i: number) => ({ type: 'note.made', data: i === 400 ? MARKER : `note ${i} ${'x'.repeat(100)}` })
      await store.appendAll(Array.from({ length: 1000 }, (_, i) => note(i + 1)))
    }
    const bytes = readFileSync(path)
    const page = Math.floor(bytes.indexOf(MARKER) / PAGE) * PAGE
    bytes.fill(0x5a, page, page + 64)
    writeFileSync(path, bytes)
    const { code, out } = await ink(['verify', path, '--json'])
    expect(code).toBe(4)
    const { error } = JSON.parse(out)
    expect(error).toMatchObject({ code: 'FILE_CORRUPT', kind: 'corrupt' })
    expect(error.details.lastGoodSeq).toBeGreaterThan(300)
    expect(error.details.lastGoodSeq).toBeLessThan(400)
    expect(error.details.pages.length).toBeGreaterThan(0)
    expect((await ink(['verify', path])).err).toContain(`the last readable event is seq ${error.details.lastGoodSeq}`)
  })

  test('verify ends with 4 when only an index is damaged, which the chain does not see', async () => {
    const { path } = await smallStore()
    let root = 0
    withDatabase(path, (db) => {
      root = db.prepare("select rootpage from sqlite_schema where name = 'sessions_by_owner'").get()?.rootpage as number
    })
    const bytes = readFileSync(path)
    const at = bytes.indexOf('user_ada', (root - 1) * PAGE)
    expect(at).toBeLessThan(root * PAGE)
    bytes.write('user_eve', at)
    writeFileSync(path, bytes)
    expect((await ink(['verify', path, '--no-pages'])).code).toBe(0)
    const { code, out } = await ink(['verify', path])
    expect(code).toBe(4)
    expect(out).toContain('the pages of the file are damaged')
  })
})

describe('rebuild', () => {
  test('rebuild --check ends with 1 and shows field by field what differs; without it the fold is put in place', async () => {
    const { path } = await smallStore()
    withDatabase(path, (db) => {
      db.exec(`update sessions set body = json_set(body, '$.title', 'Order 9999') where body like '%Order 4711%'`)
    })
    const checked = await ink(['rebuild', path, '--check'])
    expect(checked.code).toBe(1)
    expect(checked.out).toContain('title: "Order 9999" → "Order 4711"')
    expect(checked.out).toContain('What to do: check the journal with inkfast verify')
    const report = JSON.parse((await ink(['rebuild', path, '--check', '--json'])).out)
    expect(report.tenants[1].differences[0]).toMatchObject({
      table: 'sessions',
      fields: [{ field: 'title', stored: 'Order 9999', folded: 'Order 4711' }],
    })
    expect(await ink(['rebuild', path, '--json'])).toMatchObject({ code: 0, out: expect.stringContaining('"replaced":true') })
    expect((await ink(['rebuild', path, '--check'])).code).toBe(0)
  })

  test('rebuild shows what only an index says otherwise, and a mark that is wrong', async () => {
    const { path } = await smallStore()
    const store = await open(path)
    const item = await store.queue('outbox').offer({ to: 'ada' }, { group: 'ada', priority: 3 })
    await store.close()
    withDatabase(path, (db) => db.exec('update work set priority = 9, behind = 1'))
    const { code, out } = await ink(['rebuild', path, '--check', '--tenant', 'main'])
    expect(code).toBe(1)
    expect(out).toContain(
      `work ${item.id}\n    indexed priority: 9 → 3\n    turn in its group: "marked wrong" → "marked by the rows before it"`,
    )
  })

  test('rebuild shows a row that is missing', async () => {
    const { path } = await smallStore()
    withDatabase(path, (db) => db.exec("delete from names where tenant = 'acme'"))
    const { code, out } = await ink(['rebuild', path, '--check', '--tenant', 'acme'])
    expect(code).toBe(1)
    expect(out).toContain('row: (none) → {')
  })
})

describe('doctor', () => {
  test.each([
    ['a missing file', () => join(folder(), 'none.db'), 'there is no store here'],
    ['a missing folder', () => join(folder(), 'no', 'agents.db'), 'does not exist'],
    ['a folder', () => folder(), 'it is not a file'],
    [
      'text',
      () => {
        const path = join(folder(), 'a.txt')
        writeFileSync(path, 'words '.repeat(100))
        return path
      },
      'not an SQLite file',
    ],
  ])('doctor says what is wrong with %s, and ends with 1', async (_, make, says) => {
    const { code, out, err } = await ink(['doctor', make()])
    expect([code, err]).toEqual([1, ''])
    expect(out).toContain(says)
    expect(out).toMatch(/✗ \d problems?: follow the arrows above/)
  })

  test('doctor still speaks of a store that was cut in half', async () => {
    const { path } = await smallStore()
    truncateSync(path, 3 * 4096)
    const { code, out } = await ink(['doctor', path, '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out).findings.some((f: { name: string; state: string }) => f.state === 'fail')).toBe(true)
  })
})

describe('wrong usage ends with 2', () => {
  test.each([
    [['evnts']],
    [['events']],
    [['events', ':memory:']],
    [['events', 'a.db', '--colour']],
    [['events', 'a.db', '--last', 'ten']],
    [['events', 'a.db', '--last', '1', '--first', '1']],
    [['verify', 'a.db', 'b.db']],
    [['verify', 'a.db', '--receipts', 'none.json']],
    [['sessions', 'a.db', 'close']],
    [['sessions', 'show', 'a.db']],
    [['sessions', 'a.db', 'show', 'x']],
    [['sessions', 'shwo', 'a.db', 'x']],
    [['sessions', 'a.db', '--state', 'lost']],
    [['demo', '--kills', '0']],
  ])('wrong usage ends with 2: %j', async (words) => {
    const { code, out, err } = await ink(words)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^inkfast: .+\n$/)
  })

  test('wrong usage with --json is reported in JSON', async () => {
    for (const words of [['evnts'], ['events'], ['events', 'a.db', '--last', 'ten']]) {
      const { code, out } = await ink([...words, '--json'])
      expect(code).toBe(2)
      expect(JSON.parse(out)).toMatchObject({ error: { code: 'USAGE', kind: 'invalid', message: expect.any(String) } })
    }
  })

  test('a filter that means nothing to the store ends with 2', async () => {
    const { path } = await smallStore()
    for (const filter of [
      ['--type', 'NO'],
      ['--since', 'yesterday'],
      ['--run', 'x'],
      ['--actor', 'a b'],
      ['--tenant', '/'],
    ]) {
      expect((await ink(['events', path, ...filter])).code, filter.join(' ')).toBe(2)
    }
  })
})

test('an unknown session or tenant ends with 3, so that a slip does not read as nothing wrong', async () => {
  const { path } = await smallStore()
  expect((await ink(['events', path, '--session', 'support/1'])).code).toBe(3)
  expect((await ink(['sessions', 'show', path, 'support/1'])).code).toBe(3)
  const { code, err } = await ink(['verify', path, '--tenant', 'acmee'])
  expect(code).toBe(3)
  expect(err).toContain('it has acme, main')
})

test('a folder as a store is refused in words', async () => {
  const path = join(folder(), 'stores')
  mkdirSync(path)
  const { code, err } = await ink(['events', path])
  expect(code).toBe(4)
  expect(err).toContain('contains no store. Pass the file of a store')
})

test('a stack is shown only with INKFAST_DEBUG=1', async () => {
  const path = join(folder(), 'none.db')
  expect((await ink(['verify', path])).err).not.toContain('    at ')
  expect((await ink(['verify', path], { INKFAST_DEBUG: '1' })).err).toContain('    at ')
})
