// Tests that need an ordinary user also run for root in a folder that nobody else may enter.

import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tempFolder } from './engines.ts'
import { copyProject, printedAs, projectFor } from './other-user.ts'
import { unprivileged } from './postgres-programs.ts'

test('a project in a folder closed to other users is copied to where another user can run it', async ({ skip }) => {
  const user = unprivileged()
  if (user.uid === undefined) return skip('only root runs programs as another user')
  const folder = tempFolder()
  expect(statSync(folder).mode & 0o077).toBe(0)
  const closed = copyProject(folder)
  await expect(printedAs(user, closed.node, '')).rejects.toMatchObject({ code: 'EACCES' })

  const { node, entry } = projectFor(user, closed)
  expect(entry).not.toBe(closed.entry)
  const script = `import { open } from ${JSON.stringify(entry)}
    const store = await open(':memory:')
    console.log(process.getuid(), (await store.health()).status)
    await store.close()`
  expect(await printedAs(user, node, script)).toBe(`${user.uid} ok\n`)
})
