// Files that somebody crafted: whatever was put into their schema is refused before any of it runs, and what leaves our tables alone is not.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { codeOf, expectSound, openIn, tempFile, tempFolder } from '../../../test/support/engines.ts'
import { open } from '../../index.ts'
import { make } from './create.ts'
import { connect } from './database.ts'
import { migrate } from './migrate.ts'
import { migrateFile } from './schema.ts'

function freshFile(): string {
  const path = tempFile()
  make(path, Date.now())
  return path
}

/** Changes a file as its owner could, with nothing of ours in the way. */
function craft(path: string, sql: string): void {
  const db = new DatabaseSync(path, { defensive: false })
  try {
    db.exec(sql)
  } finally {
    db.close()
  }
}

const SWALLOWS = 'begin select raise(ignore); end'
/** Takes minutes where it runs. */
const ENDLESS = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 1e10) select count(*) from n'
const intoSchema = (sql: string): string =>
  `pragma writable_schema = on; ${sql}; pragma schema_version = 1000000; pragma writable_schema = off`

test.each([
  ['a trigger that swallows events', `create trigger evil before insert on events ${SWALLOWS}`, 'the trigger evil on events is not ours'],
  [
    'a trigger behind quotes, comments and another case',
    `create trigger "on" after insert /* on notes */ ON -- on notes\n "EVENTS" ${SWALLOWS}`,
    'the trigger on on events is not ours',
  ],
  ['a trigger on rows', `create trigger evil after update on work ${SWALLOWS}`, 'the trigger evil on work is not ours'],
  [
    'a view on our tables',
    'create view all_of_it as select a.x, e.payload from (select 1 as x) a, main."events" e',
    'the view all_of_it on events is not ours',
  ],
  [
    'a view in the place of a table',
    `drop table migrations; create view migrations as select number from (${ENDLESS}), (select 1 as number)`,
    'the table migrations is not the one that was made',
  ],
  ['a table that is missing', 'drop table renewals', 'the table renewals is missing'],
  ['an index that is missing', 'drop index work_by_due', 'the index work_by_due is missing'],
  [
    'an index over less',
    'drop index sessions_by_owner; create index sessions_by_owner on sessions (tenant, owner, born, id) where owner is null',
    'the index sessions_by_owner is not the one that was made',
  ],
  ['an index of others', 'create unique index one_type on events (type)', 'the index one_type on events is not ours'],
  [
    'a column that is computed',
    `alter table events add column copy text as (upper(payload))`,
    'the table events is not the one that was made',
  ],
  [
    'a check that refuses',
    intoSchema(
      `update sqlite_schema set sql = replace(sql, 'seq     integer not null', 'seq integer not null check (seq < 9)') where name = 'events'`,
    ),
    'the table events is not the one that was made',
  ],
  [
    'a table that holds our rows',
    'create table notes (name text references secrets (name) on delete restrict)',
    'the table notes has a foreign key to secrets and is not ours',
  ],
])('%s is refused before anything of it runs, and told', async (_, sql, found) => {
  const path = freshFile()
  craft(path, sql)
  const refusal = await open({ url: path, logger: false }).catch((error) => error)
  expect(refusal).toMatchObject({ code: 'SCHEMA_ALTERED', kind: 'corrupt' })
  expect(refusal.message).toContain(found)
})

test.each([
  `('table', 'sqlite_stat1', 'sqlite_stat1', 0, 'CREATE TRIGGER evil before insert on events ${SWALLOWS}')`,
  `('trigger', 'evil', 'notes', 0, 'CREATE TRIGGER evil before insert on events ${SWALLOWS}')`,
  `('trigger', 'events_stay', 'notes', 0, 'CREATE TRIGGER evil before insert on events ${SWALLOWS}')`,
])('a trigger that is listed as something else is damage', async (row) => {
  const path = freshFile()
  craft(path, `create table notes (x); ${intoSchema(`insert into sqlite_schema values ${row}`)}`)
  expect(await codeOf(open({ url: path, logger: false }))).toBe('FILE_CORRUPT')
})

test('a file whose texts are kept as UTF-16 is refused', async () => {
  const path = tempFile()
  const db = connect(path)
  db.exec("pragma encoding = 'UTF-16le'")
  migrate(db, 1)
  db.close()
  await expect(open(path)).rejects.toMatchObject({ code: 'SCHEMA_ALTERED', message: expect.stringContaining('UTF-16le') })
})

test('tables of others beside ours, with their own indexes, triggers and views, are left alone', async () => {
  const path = freshFile()
  craft(
    path,
    `create table notes (id integer primary key autoincrement, state text unique, parent references notes (id));
     create index notes_by_state on notes (state);
     create trigger notes_count after insert on notes begin update counts set events = events + 1; end;
     create table counts (events integer, state text);
     create view open_notes as select id, state, (select events from counts) as usage from notes where state in ('sessions', 'events');
     create virtual table found using fts5 (text, content = 'notes');
     insert into notes (state) values ('a'); analyze`,
  )
  for (let opened = 0; opened < 2; opened++) {
    const store = await openIn(path)
    await (await store.session('s')).append('a.b', opened)
    expect(await store.check()).toEqual([])
    await expectSound(store)
    await store.close()
  }
})

test('a file with a foreign trigger is still read, which fires none', async () => {
  const path = tempFile()
  const store = await openIn(path)
  await (await store.session('s')).append('a.b', 1)
  await store.close()
  craft(path, `create trigger evil before insert on events ${SWALLOWS}`)
  const reader = await openIn(path, { readOnly: true })
  expect(await reader.verify()).toMatchObject({ intact: true, events: 2 })
  expect(await reader.check()).toEqual(['the trigger evil on events is not ours'])
  await reader.close()
  craft(path, 'drop trigger evil; alter table heads rename to kept; create view heads as select * from kept')
  expect(await codeOf(openIn(path, { readOnly: true }))).toBe('SCHEMA_ALTERED')
})

test('a trigger that is added while the store is open is found by check', async () => {
  const path = tempFile()
  const store = await openIn(path)
  craft(path, `create trigger evil before insert on events ${SWALLOWS}`)
  expect(await store.check()).toEqual(['the trigger evil on events is not ours'])
})

test('migrate makes a missing index again, and refuses a file with objects of others', async () => {
  const path = freshFile()
  craft(path, 'drop index work_by_due; drop trigger events_stay')
  await expect(open(path)).rejects.toMatchObject({ code: 'SCHEMA_ALTERED', message: expect.stringContaining('inkfast migrate') })
  expect((await migrateFile(path)).guardedAgain).toEqual(['the trigger events_stay is missing', 'the index work_by_due is missing'])
  await (await openIn(path)).close()
  craft(path, `drop index work_by_due; create trigger evil before insert on events ${SWALLOWS}`)
  expect(await codeOf(migrateFile(path))).toBe('SCHEMA_ALTERED')
  // Nothing was changed.
  const db = connect(path, { readOnly: true })
  expect(db.all("select name from sqlite_schema where name in ('evil', 'work_by_due')")).toEqual([{ name: 'evil' }])
  db.close()
})

test('the file of one tenant that was crafted is refused, and the others go on', async () => {
  const folder = tempFolder()
  const store = await openIn(folder, { layout: 'tenant' })
  for (const tenant of ['acme', 'other']) await store.tenant(tenant).appendAll([{ type: 'a.b', data: 1 }])
  await store.close()
  craft(join(folder, 'tenant-acme.db'), `create trigger evil before insert on events ${SWALLOWS}`)
  const again = await openIn(folder, { layout: 'tenant' })
  expect(await codeOf(again.tenant('acme').appendAll([{ type: 'a.b', data: 1 }]))).toBe('SCHEMA_ALTERED')
  expect(await again.tenant('other').appendAll([{ type: 'a.b', data: 1 }])).toHaveLength(1)
})
