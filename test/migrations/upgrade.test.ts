// Every released version left a store here, as text. Today's code opens each, proves it, and goes on writing.

import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/backends/sqlite/database.ts'
import { migrations, schemaVersion } from '../../src/backends/sqlite/migrate.ts'
import { openDatabase } from '../../src/backends/sqlite/open.ts'
import { InkError, open } from '../../src/index.ts'
import { emptyFolder, filesUnder, read, readJson } from '../support/project.ts'
import type { Released } from '../support/tidy/schema.ts'
import { expectGoesOn, tampered } from './goes-on.ts'
import { KEY, readStored, readText, restoreStored, storedAt, writeStore, writeText } from './stored.ts'

const folder = 'test/migrations'
const versions = filesUnder(folder, (path) => /\/\d+\.\d+\.\d+\.jsonl$/.test(path)).map((path) => posix.basename(path, '.jsonl'))
const storedBy = (version: string) => readText(read(`${folder}/${version}.jsonl`))

describe('a store of an earlier version', () => {
  it('a store of an earlier version is kept for every version that brought migrations', () => {
    expect(versions).toEqual(expect.arrayContaining(Object.keys(readJson<Released>('src/backends/sqlite/migrations/released.json'))))
  })

  it.each(versions)('a store of an earlier version %s is brought up to date, verifies, folds, and goes on', async (version) => {
    using scratch = emptyFolder()
    const path = `${scratch.path}/old.db`
    const stored = storedBy(version)
    restoreStored(path, stored)
    await using store = await open({ url: path, redactKey: KEY })
    await expectGoesOn(store, stored)
  })

  it.each(migrations.map(({ number }) => number))(
    'a store of an earlier version that stopped at migration %i is brought up to date and goes on',
    async (number) => {
      using scratch = emptyFolder()
      const stored = storedBy(versions.at(-1) as string)
      restoreStored(`${scratch.path}/old.db`, storedAt(stored, number))
      await using store = await open({ url: `${scratch.path}/old.db`, redactKey: KEY })
      await expectGoesOn(store, stored)
    },
  )

  it.each(versions)('a store of an earlier version %s is reported when something in it was changed', async (version) => {
    using scratch = emptyFolder()
    const stored = storedBy(version)
    restoreStored(`${scratch.path}/old.db`, tampered(stored))
    await using store = await open({ url: `${scratch.path}/old.db`, redactKey: KEY })
    expect(await store.verify()).toMatchObject({ intact: false, brokenAt: stored.receipts[1]?.seq })
  })
})

describe('the store of this version', () => {
  it('the store of this version is written alike every time, so that the kept one can be compared', async () => {
    using scratch = emptyFolder()
    const kept = async (name: string) => {
      const receipts = await writeStore(`${scratch.path}/${name}.db`)
      const db = connect(`${scratch.path}/${name}.db`, { readOnly: true })
      const stored = readStored(db, receipts)
      db.close()
      return stored
    }
    const one = await kept('one')
    expect(one).toEqual(await kept('two'))
    expect(readText(writeText(one))).toEqual({
      ...one,
      tables: Object.fromEntries(Object.entries(one.tables).filter(([, rows]) => rows.length > 0)),
    })
  })

  it('the store of this version is refused untouched by a version that does not know its schema', async () => {
    using scratch = emptyFolder()
    const path = `${scratch.path}/newer.db`
    restoreStored(path, storedBy(versions.at(-1) as string))
    const db = connect(path)
    db.exec(`pragma user_version = ${schemaVersion() + 1}`)
    db.close()
    await expect(open(path)).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
      details: { found: schemaVersion() + 1, known: schemaVersion() },
    })
  })

  it('the store of this version is refused when a migration in it is not the one we ship', async () => {
    using scratch = emptyFolder()
    const path = `${scratch.path}/other.db`
    restoreStored(path, storedBy(versions.at(-1) as string))
    const db = connect(path)
    db.run('update migrations set checksum = ? where number = 1', 'another')
    db.close()
    const refusal = await openDatabase(path, () => 0).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refusal).toBeInstanceOf(InkError)
    expect(refusal).toMatchObject({ code: 'SCHEMA_CHANGED', details: { migration: 1 } })
  })
})
