// A store is created only where nothing of an older one is left.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { codeOf, openIn, tempFile, tempFolder } from '../../../test/support/engines.ts'
import { open } from '../../index.ts'

test('a log without its file is refused and left alone, because its writes may exist nowhere else', async () => {
  const path = tempFile()
  const store = await openIn(path)
  await (await store.session('s')).append('a.b', {})
  const log = readFileSync(`${path}-wal`)
  await store.close()
  const alone = tempFile()
  writeFileSync(`${alone}-wal`, log)
  expect(await codeOf(open(alone))).toBe('FILE_LOST')
  expect(readFileSync(`${alone}-wal`).equals(log)).toBe(true)
  expect(readdirSync(dirname(alone))).toEqual(['agents.db-wal'])
  // A tenant's file in a folder, which is created with its first write.
  const folder = tempFolder()
  const stores = await openIn(folder, { layout: 'tenant' })
  writeFileSync(join(folder, 'tenant-acme.db-wal'), log)
  expect(await codeOf(stores.tenant('acme').session('s'))).toBe('FILE_LOST')
  expect(readdirSync(folder)).not.toContain('tenant-acme.db')
})
