// A real PostgreSQL for tests and benchmarks: started on the loopback with data of its own, gone with the process that started it.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Keeper, startKeeper } from './postgres-keeper.ts'
import { environment, folderFor, own, type Programs, programsFor, type RunAs, unprivileged } from './postgres-programs.ts'

export interface ServerOptions {
  /** False spares the flushes: data then outlives the server's processes, and not the machine. */
  readonly fsync?: boolean
  /** Any of PostgreSQL's settings, over ours. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
  /** The place for its data folder, if the server can write there; beside its log by default. */
  readonly dataIn?: string
  /** How long it may take to be ready; 30 s by default, for busy machines. */
  readonly timeoutMs?: number
}

export interface Server extends AsyncDisposable {
  /** The URL of the superuser, to the database postgres. */
  readonly url: string
  readonly port: number
  /** Its log and its socket. */
  readonly folder: string
  readonly data: string
  /** The id of its first process, which changes with a restart; undefined while none runs. */
  readonly pid: number | undefined
  /** The settings it was started with, beyond PostgreSQL's own defaults. */
  readonly settings: Readonly<Record<string, string>>
  log(): string
  /** Sends a signal to its first process; waits for the end where the signal means the end. SIGKILL is a crash, SIGTERM lets clients finish. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Comes back on the same port with the data that are there, stopped before if it runs. */
  restart(): Promise<void>
  /** Ends it, whatever state it is in, and removes its folder. */
  stop(): Promise<void>
}

const ENDING: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGABRT']
const PORT_TAKEN = 'Address already in use'
const STILL_IN_USE = 'is still in use'
// A longer path than this is none for a socket: 104 bytes on macOS, 108 on Linux, with the socket's own name.
const SOCKET_FOLDER_MOST = 85

export async function startServer({ fsync = true, settings = {}, timeoutMs = 30_000, dataIn }: ServerOptions = {}): Promise<Server> {
  const user = unprivileged()
  const folder = folderFor(user)
  const data = dataIn === undefined ? join(folder, 'data') : folderFor(user, dataIn)
  const keeper = startKeeper(folder, data)
  const server = new RunningServer({ user, folder, data, keeper, timeoutMs, fsync, settings })
  try {
    await server.begin()
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

interface Parts extends Required<Omit<ServerOptions, 'dataIn'>> {
  readonly user: RunAs
  readonly folder: string
  readonly data: string
  readonly keeper: Keeper
}

class RunningServer implements Server {
  readonly folder: string
  readonly data: string
  readonly #parts: Parts
  readonly #password = randomBytes(18).toString('base64url')
  #programs: Programs | undefined
  #process: ChildProcess | undefined
  #port = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.folder = parts.folder
    this.data = parts.data
  }

  get url(): string {
    return `postgres://postgres:${this.#password}@127.0.0.1:${this.#port}/postgres`
  }

  get port(): number {
    return this.#port
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  get settings(): Readonly<Record<string, string>> {
    const { fsync, settings } = this.#parts
    const ours = {
      listen_addresses: '127.0.0.1',
      port: this.#port,
      unix_socket_directories: this.folder.length <= SOCKET_FOLDER_MOST ? this.folder : '',
      max_connections: 400,
      shared_buffers: '128MB',
      fsync: fsync ? 'on' : 'off',
      // Files in the folder, where the default would leave pieces in shared memory behind when the server is killed.
      dynamic_shared_memory_type: 'mmap',
    }
    return Object.fromEntries(Object.entries({ ...ours, ...settings }).map(([name, value]) => [name, String(value)]))
  }

  log(): string {
    const path = join(this.folder, 'server.log')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }

  async begin(): Promise<void> {
    const { user, folder, timeoutMs } = this.#parts
    this.#programs = programsFor(user, folder)
    await this.#makeData(this.#programs)
    // Between asking for a free port and taking it, someone else may have taken it.
    for (let left = 5; ; left--) {
      this.#port = await freePort()
      const said = await this.#launch(timeoutMs)
      if (said === undefined) return
      if (!said.includes(PORT_TAKEN) || left === 0) throw new Error(`PostgreSQL did not start: ${said}`)
    }
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const process = this.#process
    if (!process) throw new Error(`PostgreSQL is not running, so it cannot be sent ${signal}.`)
    process.kill(signal)
    if (ENDING.includes(signal)) await ended(process)
  }

  async restart(): Promise<void> {
    await this.#end()
    const end = performance.now() + this.#parts.timeoutMs
    for (;;) {
      const said = await this.#launch(end - performance.now())
      if (said === undefined) return
      // After a crash the last of the old processes need a moment to see that they are alone; a passing connection may hold the port.
      const passing = said.includes(STILL_IN_USE) || said.includes(PORT_TAKEN)
      if (!passing || performance.now() > end) throw new Error(`PostgreSQL did not start again: ${said}`)
      await sleep(50)
    }
  }

  async stop(): Promise<void> {
    await this.#end()
    for (const folder of [this.data, this.folder]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    await this.#parts.keeper.dismiss()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #makeData({ initdb }: Programs): Promise<void> {
    const { user, folder } = this.#parts
    const passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, this.#password, { mode: 0o600 })
    own(passwordFile, user)
    const args = ['--pgdata', this.data, '--username=postgres', '--pwfile', passwordFile, '--auth=scram-sha-256']
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8', '--lc-messages=C']
    // One iteration of SCRAM instead of 4096: a connection then costs a tenth of what it did, on both sides.
    const password = ['-c', 'scram_iterations=1']
    // No flush for what initdb writes: a machine that goes down takes along whoever would have wanted it.
    const made = await this.#spawn(initdb, [...args, ...locale, ...password, '--no-sync', '--no-instructions'])
    await ended(made)
    rmSync(passwordFile)
    if (made.exitCode !== 0) throw new Error(`PostgreSQL could not make its data folder: ${this.#tail()}`)
  }

  /** Undefined when it is ready, else what it said before it ended. */
  async #launch(timeoutMs: number): Promise<string | undefined> {
    if (!this.#programs) throw new Error('PostgreSQL was never started.')
    const before = this.log().length
    const flags = Object.entries(this.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const process = await this.#spawn(this.#programs.postgres, ['-D', this.data, ...flags])
    this.#process = process
    process.once('exit', () => {
      this.#process = undefined
    })
    const end = performance.now() + timeoutMs
    while (this.#process === process) {
      if (isReady(this.data, process.pid)) return undefined
      if (performance.now() > end) {
        await this.#end()
        throw new Error(`PostgreSQL was not ready after ${Math.round(timeoutMs)} ms: ${this.#tail(before)}`)
      }
      await sleep(10)
    }
    return this.#tail(before)
  }

  /** Fast first, which rolls back what is open; then as hard as it takes. */
  async #end(): Promise<void> {
    const process = this.#process
    if (!process) return
    // One that was paused hears nothing else.
    process.kill('SIGCONT')
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      process.kill(signal)
      if (await Promise.race([ended(process).then(() => true), sleep(10_000, false, { ref: false })])) return
    }
    throw new Error(`PostgreSQL (process ${process.pid}) did not end, not even by SIGKILL.`)
  }

  /** In a group of its own, so that an interrupt at the terminal reaches it through us alone; a log that is a file never blocks it. */
  async #spawn(program: string, args: readonly string[]): Promise<ChildProcess> {
    const { user, folder, keeper } = this.#parts
    const log = openSync(join(folder, 'server.log'), 'a')
    try {
      const process = spawn(program, args, { ...user, cwd: folder, env: environment, detached: true, stdio: ['ignore', log, log] })
      await once(process, 'spawn')
      keeper.watch(process.pid)
      process.once('exit', () => keeper.watch(undefined))
      // It does not keep the program alive that started it; whoever waits for its end holds on to it again.
      process.unref()
      return process
    } finally {
      closeSync(log)
    }
  }

  #tail(from = 0): string {
    return `its log ends with\n${this.log().slice(from).trimEnd().split('\n').slice(-20).join('\n')}`
  }
}

/** Written by the server itself in the moment it says "ready to accept connections"; a file left by a crash has another pid. */
function isReady(data: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return
  process.ref()
  await once(process, 'exit')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('The system gave no port.')
  return address.port
}
