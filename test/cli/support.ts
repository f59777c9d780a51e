// Running the command line as its users do: a process of its own, on small stores in folders that go away.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, beforeEach } from 'vitest'
import { tellFailure } from '../../src/cli/exit.ts'
import { run } from '../../src/cli/run.ts'
import { environment, readSwitch, type Terminal, unclearSwitch } from '../../src/cli/terminal.ts'
import { open, type Receipt } from '../../src/index.ts'
import { afterThisFile } from '../support/cleanups.ts'
import { programAt } from '../support/programs.ts'

export const main = programAt(new URL('../../src/cli/main.ts', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Goes away with the test file. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'inkfast-cli-'))
  afterThisFile(() => rmSync(made, { recursive: true, force: true }))
  return made
}

export function start(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { INKFAST_URL: _, NO_COLOR: __, ...rest } = process.env
  return spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...rest, ...env } })
}

export async function ink(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = start(words, env)
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  await once(child, 'close')
  return { code: child.exitCode, out, err }
}

export interface SmallStore {
  readonly path: string
  readonly receipts: readonly Receipt[]
  /** The seq of the event that holds MARKER. */
  readonly marked: number
}

export const MARKER = 'the lamp was sent back on a tuesday'

/** Two tenants, three sessions, eleven events, one of them hostile to terminals. */
export async function smallStore(layout: 'single' | 'tenant' = 'single'): Promise<SmallStore> {
  const path = layout === 'tenant' ? folder() : join(folder(), 'agents.db')
  await using store = await open({ url: path, layout })
  const session = await store.as('user_ada').session('support/4711', { title: 'Order 4711', owner: 'user_ada' })
  const receipts: Receipt[] = []
  for (let i = 1; i <= 3; i++) receipts.push(await session.append('plan.changed', { steps: i }))
  const marked = await session.append('tool.returned', { result: MARKER })
  receipts.push(marked)
  receipts.push(await session.append('note.made', { text: '\u001b]0;owned\u0007\u009b31m\u202e', long: 'x'.repeat(500) }))
  const other = await store.session('support/4712')
  receipts.push(await other.append('model.called', { model: 'example-large' }))
  await other.archive()
  receipts.push(
    await store
      .tenant('acme')
      .session('a/1')
      .then((s) => s.append('plan.changed', { steps: 9 })),
  )
  return { path, receipts, marked: marked.seq }
}

/** One byte of the marked payload is another one now. */
export function tamper(path: string): void {
  const bytes = readFileSync(path)
  const at = bytes.indexOf(MARKER)
  bytes[at] = (bytes[at] as number) ^ 1
  writeFileSync(path, bytes)
}

export function withDatabase(path: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(path)
  try {
    work(db)
  } finally {
    db.close()
  }
}

/**
 * The same within this process, which takes a hundredth of the time, and on a terminal as wide as asked for. Nothing is seen of pipes and
 * signals. Calls at the same time must have the same variables of the environment.
 */
export async function inkHere(words: readonly string[], around?: number | Environment): Promise<Ended> {
  const width = typeof around === 'number' ? around : undefined
  const variables = typeof around === 'object' ? around : {}
  // The command itself reads this one from its process.
  if (unclearSwitch(variables) !== undefined) return ink(words, variables)
  Object.assign(environment, environmentOf(variables))
  let [out, err] = ['', '']
  const json = words.includes('--json')
  const speak: Pick<Terminal, 'out' | 'note'> = {
    out: (line) => {
      out += `${line}\n`
    },
    note: (line) => {
      err += `${line}\n`
    },
  }
  const terminalOf = (asked: boolean): Terminal => ({
    ...speak,
    json: asked,
    width,
    watched: false,
    signal: new AbortController().signal,
    status: () => {},
    room: async () => {},
    paint: (_, text) => text,
  })
  const print = (text: string) => speak.out(text.trimEnd())
  const code = await run(words, { terminalOf, print, tell: (error) => tellFailure(error, { json, debug: environment.debug, ...speak }) })
  return { code, out, err }
}

type Environment = Readonly<Record<string, string>>

/** As src/cli/terminal.ts reads the variables. */
function environmentOf({
  INKFAST_URL,
  INKFAST_TENANT_KEY,
  INKFAST_EMBEDDER_KEY,
  INKFAST_DATABASE_REQUIRED,
  INKFAST_DEBUG,
  ...others
}: Environment) {
  const [other] = Object.keys(others)
  if (other !== undefined) throw new Error(`inkHere does not know ${other}: use ink, which starts a process.`)
  return {
    url: INKFAST_URL,
    tenantKey: INKFAST_TENANT_KEY,
    embedderKey: INKFAST_EMBEDDER_KEY,
    databaseRequired: readSwitch(INKFAST_DATABASE_REQUIRED) === true,
    debug: readSwitch(INKFAST_DEBUG) === true,
  }
}

export const inkHereJson = async (words: readonly string[], env?: Environment) => JSON.parse((await inkHere([...words, '--json'], env)).out)

/** What a command prints with --json. */
export const inkJson = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  JSON.parse((await ink([...words, '--json'], env)).out)

export interface CopiedStore<T> {
  /** Of this test alone. */
  readonly path: string
  readonly made: T
}

/** A store that is made once for a file of tests, and copied for each of them. */
export function copyForEach<T>(make: (url: string) => Promise<T>): CopiedStore<T> {
  const original = join(folder(), 'agents.db')
  let [path, made] = ['', undefined as T]
  beforeAll(async () => {
    made = await make(original)
  })
  beforeEach(() => {
    path = join(folder(), 'agents.db')
    copyFileSync(original, path)
  })
  return {
    get path() {
      return path
    },
    get made() {
      return made
    },
  }
}

export const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')
