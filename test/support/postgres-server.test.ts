// Promises that tests and benchmarks rely on when they start a PostgreSQL of their own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { query } from './postgres-database.ts'
import { folderFor, installedPrograms, programsFor, unprivileged } from './postgres-programs.ts'
import { type Server, startServer } from './postgres-server.ts'
import { emptyFolder, inProject } from './project.ts'

describe('a server', () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  it('a test server answers on the loopback, by password, with flushes on', async () => {
    const [row] = await query(server.url, "select 1 as one, current_setting('fsync') as fsync, current_setting('max_connections') as most")
    expect(row).toEqual({ one: 1, fsync: 'on', most: '400' })
    const stranger = new URL(server.url)
    stranger.password = 'guessed'
    await expect(query(stranger.href, 'select 1')).rejects.toThrow('password authentication failed')
  })

  it('a test server has a port of its own beside another, whose settings are as asked for', async () => {
    await using other = await startServer({ fsync: false, settings: { work_mem: '7MB' } })
    expect(other.port).not.toBe(server.port)
    const [row] = await query(other.url, "select current_setting('fsync') as fsync, current_setting('work_mem') as memory")
    expect(row).toEqual({ fsync: 'off', memory: '7MB' })
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('a test server comes back after a crash with what was committed, on the same port, under another process', async () => {
    await query(server.url, 'create table kept (n int)')
    await query(server.url, 'insert into kept values (7)')
    const { pid, url } = server
    await server.kill('SIGKILL')
    expect(server.pid).toBeUndefined()
    await expect(query(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
    await server.restart()
    expect(server.url).toBe(url)
    expect(server.pid).not.toBe(pid)
    expect(await query(url, 'select n from kept')).toEqual([{ n: 7 }])
    expect(server.log()).toContain('automatic recovery in progress')
  })

  it('a test server restarts while it runs, clients or not', async () => {
    const client = new Client(server.url)
    const heard: string[] = []
    client.on('error', ({ message }) => heard.push(message))
    await client.connect()
    await server.restart()
    expect(heard[0]).toBe('terminating connection due to administrator command')
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})

it('a server that was stopped has left no process and no file', async () => {
  const server = await startServer()
  const { pid, folder, data } = server
  expect([isAlive(pid), existsSync(data)]).toEqual([true, true])
  // Paused, it hears no ordinary signal; it is ended nevertheless.
  await server.kill('SIGSTOP')
  await server.stop()
  expect([isAlive(pid), existsSync(data), existsSync(folder)]).toEqual([false, false, false])
  await server.stop()
})

it('a server that cannot start says why and leaves nothing', async () => {
  using place = emptyFolder()
  chmodSync(place.path, 0o755)
  vi.stubEnv('TMPDIR', place.path)
  const failed = startServer({ settings: { shared_buffers: 'plenty' } })
  expect(readdirSync(place.path)).toHaveLength(1)
  await expect(failed).rejects.toThrow('invalid value for parameter "shared_buffers": "plenty"')
  expect(readdirSync(place.path)).toEqual([])
  vi.unstubAllEnvs()
})

it('a server does not outlive the process that started it, not even one that was killed', async () => {
  const { pid, folder, starter } = await startedElsewhere(`
    const { startServer } = await import(${JSON.stringify(inProject('test/support/postgres-server.ts'))})
    const { pid, folder } = await startServer()`)
  expect(isAlive(pid)).toBe(true)
  starter.kill('SIGKILL')
  for (let left = 100; (isAlive(pid) || existsSync(folder)) && left > 0; left--) await sleep(50)
  expect([isAlive(pid), existsSync(folder)]).toEqual([false, false])
})

it.each([
  ['ends what it was told to watch', true],
  ['leaves alone what it was not told of', false],
])('a keeper whose starter was killed %s', async (_, watched) => {
  const { pid, folder, starter } = await startedElsewhere(`
    const { startKeeper } = await import(${JSON.stringify(inProject('test/support/postgres-keeper.ts'))})
    const folder = (await import('node:fs')).mkdtempSync((await import('node:os')).tmpdir() + '/inkfast-')
    const { pid } = (await import('node:child_process')).spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    const keeper = startKeeper(folder)
    if (${watched}) keeper.watch(pid)`)
  starter.kill('SIGKILL')
  for (let left = 100; existsSync(folder) && left > 0; left--) await sleep(50)
  expect(isAlive(pid)).toBe(!watched)
  if (!watched) process.kill(pid)
})

describe('programs', () => {
  it("PostgreSQL's programs that were installed without their links are copied and get them", () => {
    using place = emptyFolder()
    const user = unprivileged()
    const folder = folderFor(user)
    const installed = join(place.path, 'native')
    cpSync(installedPrograms(), installed, { recursive: true, verbatimSymlinks: true })
    for (const { target } of JSON.parse(readFileSync(join(installed, 'pg-symlinks.json'), 'utf8')))
      rmSync(join(place.path, target), { force: true })
    expect(programsFor(user, folder, installed).postgres).toBe(join(folder, 'native', 'bin', 'postgres'))
    rmSync(folder, { recursive: true })
  })

  it("PostgreSQL's programs that lie in a folder closed to the server are copied; others are used where they are", () => {
    const user = unprivileged()
    const folder = folderFor(user)
    using place = emptyFolder()
    expect(statSync(place.path).mode & 0o077).toBe(0)
    const installed = join(place.path, 'deep', 'native')
    mkdirSync(join(place.path, 'deep'))
    cpSync(installedPrograms(), installed, { recursive: true, verbatimSymlinks: true })
    // Only root hands the server to someone else; an ordinary user reaches what is their own.
    const where = user.uid === undefined ? installed : join(folder, 'native')
    expect(programsFor(user, folder, installed).initdb).toBe(join(where, 'bin', 'initdb'))
    expect(programsFor(user, folder, installed).initdb, 'asked again').toBe(join(where, 'bin', 'initdb'))
    rmSync(folder, { recursive: true })
  })
})

/** Runs a script that leaves `pid` and `folder`, in a process that then lives until it is killed. */
async function startedElsewhere(
  script: string,
): Promise<{ readonly pid: number; readonly folder: string; readonly starter: ChildProcess }> {
  const whole = `${script}\nconsole.log(JSON.stringify({ pid, folder }))\nsetInterval(() => {}, 1000)`
  const starter = spawn(process.execPath, ['--input-type=module', '-e', whole], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface(starter.stdout), 'line')) as [string]
  return { ...(JSON.parse(line) as { pid: number; folder: string }), starter }
}

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
