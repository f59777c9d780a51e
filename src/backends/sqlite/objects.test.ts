// The triggers that keep events unchanged: a store whose triggers were changed is noticed, read, and restored.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { codeOf, openIn, tempFile } from '../../../test/support/engines.ts'
import { open } from '../../index.ts'
import { migrateFile } from './schema.ts'

test('a trigger that was dropped or replaced is found by check and refused by open, and migrate restores it', async () => {
  for (const damage of [
    'drop trigger events_stay',
    'drop trigger events_remain; create trigger events_remain before delete on events begin select 1; end',
  ]) {
    const path = tempFile()
    const store = await openIn(path)
    await (await store.session('s')).append('a.b', {})
    expect(await store.check()).toEqual([])
    const other = new DatabaseSync(path)
    other.exec(damage)
    other.close()
    expect(await store.check(), damage).toEqual([expect.stringMatching(/^the trigger events_\w+ is/)])
    await store.close()
    expect(await codeOf(open(path)), damage).toBe('GUARDS_MISSING')
    // Reading remains possible, to find out what was changed.
    expect(await (await openIn(path, { readOnly: true })).verify()).toMatchObject({ intact: true })
    expect((await migrateFile(path)).guardedAgain).toEqual([expect.stringMatching(/^the trigger events_/)])
    expect(await (await openIn(path)).check()).toEqual([])
  }
})
