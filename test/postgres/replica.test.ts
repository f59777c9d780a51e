// A replica can be looked at and not written to, and says where to write instead.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { later, openIn } from '../support/engines.ts'
import { createDatabase, query } from '../support/postgres-database.ts'
import { startKeeper } from '../support/postgres-keeper.ts'
import { environment, own, programsFor, unprivileged } from '../support/postgres-programs.ts'
import { type Server, startServer } from '../support/postgres-server.ts'
import { refused } from './secrets.ts'
import { until } from './until.ts'

/** The same server over the same data, but following somebody from now on, as a replica does. */
async function startAsReplica(server: Server): Promise<void> {
  const user = unprivileged()
  const signal = join(server.data, 'standby.signal')
  writeFileSync(signal, '')
  own(signal, user)
  const flags = Object.entries(server.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { postgres } = programsFor(user, server.folder)
  const keeper = startKeeper()
  const replica = spawn(postgres, ['-D', server.data, ...flags], { ...user, cwd: server.folder, env: environment, stdio: 'ignore' })
  keeper.watch(replica.pid)
  later(async () => {
    replica.kill('SIGINT')
    if (replica.exitCode === null) await once(replica, 'exit')
    keeper.watch(undefined)
    await keeper.dismiss()
  })
  await until('the replica answers', async () => (await query(server.url, 'select 1')).length === 1)
}

test('a replica refuses to be opened for writing and lets itself be read', async () => {
  const server = await startServer()
  later(() => server.stop())
  const { url } = await createDatabase(server.url)
  const store = await open(url)
  await (await store.session('s')).append('task.done', {})
  await store.close()
  await server.kill('SIGINT')
  await startAsReplica(server)

  const { password } = new URL(url)
  expect(await refused(open(url), 'DATABASE_READ_ONLY', password)).toMatch(/replica in recovery.*Point url at the primary.*readOnly/)
  const reader = await openIn(url, { readOnly: true })
  expect((await reader.page()).items).toHaveLength(2)
  expect(await reader.verify()).toMatchObject({ intact: true })
  expect(await reader.rebuild({ check: true })).toMatchObject({ equal: true })
  const session = await reader.sessions.find('s')
  await refused(session?.append('task.done', {}) ?? Promise.resolve(), 'DATABASE_READ_ONLY', password)
})
