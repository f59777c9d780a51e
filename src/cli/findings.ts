// Findings about a store without opening it: the program, the folder, the file and the disk.

import { accessSync, constants, readdirSync, type Stats, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { STORE_FILE, tenantFile, tenantsIn } from '../folder.ts'
import { failureOf } from './exit.ts'
import { bytes, one } from './format.ts'
import { readHeader } from './header.ts'

export interface Finding {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly todo?: string
}

export const ok = (name: string, found: string): Finding => ({ name, state: 'ok', found })
export const warn = (name: string, found: string, todo: string): Finding => ({ name, state: 'warn', found, todo })
export const fail = (name: string, found: string, todo: string): Finding => ({ name, state: 'fail', found, ...(todo && { todo }) })

// Beyond this size the log is not being copied into the file: commits would have waited long before.
const LOG_LARGE_BYTES = 128 * 1024 * 1024
const DISK_LOW_BYTES = 1024 * 1024 * 1024
const DISK_FULL_BYTES = 64 * 1024 * 1024

/** `bin/inkfast.js` has refused a Node that is too old. */
export const programFindings = (): readonly Finding[] => [ok('node', process.version), ok('sqlite', process.versions.sqlite ?? 'unknown')]

export const fileThere = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // A folder on the path cannot be entered, so for this user the file does not exist.
    return undefined
  }
}

export function fileFindings(path: string, folder: string, name: string): readonly Finding[] {
  if (!fileThere(folder)) return [fail('folder', `${folder} does not exist`, 'Check the path, or create the folder.')]
  const findings: Finding[] = [
    may(folder, constants.R_OK | constants.W_OK | constants.X_OK)
      ? ok('folder', `${folder} is writable`)
      : fail('folder', `${folder} is not writable`, 'Give this user write permission: SQLite keeps its log beside the file.'),
  ]
  const file = fileThere(path)
  if (!file && !may(folder, constants.X_OK))
    return [...findings, fail('file', 'cannot be accessed', 'Give this user permission to enter the folder.')]
  if (!file)
    return [...findings, fail('file', 'there is no store here', 'Check the path, or create the store by opening it from a program.')]
  if (!file.isFile()) return [...findings, fail('file', 'it is not a file', 'Pass the path of a file.')]
  findings.push(
    !may(path, constants.R_OK)
      ? fail('file', 'is not readable', 'Give this user read and write permission.')
      : !may(path, constants.W_OK)
        ? fail('file', 'is readable but not writable', 'Give this user write permission.')
        : ok('file', `${bytes(file.size)}, readable and writable`),
  )
  if (may(path, constants.R_OK)) findings.push(headerFinding(path, file.size))
  const log = fileThere(`${path}-wal`)?.size ?? 0
  findings.push(
    log > LOG_LARGE_BYTES
      ? warn('log', `${bytes(log)} not yet copied into the file`, 'Find the reader that holds an old snapshot open, or check the disk.')
      : ok('log', log === 0 ? 'empty' : `${bytes(log)} not yet copied into the file`),
  )
  return [...findings, ...leftoverFinding(namesIn(folder).filter((file) => file.startsWith(`${name}.new-`)))]
}

const few = (names: readonly string[]): string => `${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`

function leftoverFinding(leftovers: readonly string[]): readonly Finding[] {
  if (leftovers.length === 0) return []
  return [
    warn(
      'leftovers',
      `${one(leftovers.length, 'file')} of an unfinished store: ${few(leftovers)}`,
      'A program died while it created the store. Delete the files if no program is creating it now.',
    ),
  ]
}

function headerFinding(path: string, size: number): Finding {
  if (size === 0) return fail('schema', 'the file is empty', 'Restore a backup, or delete the file to start a new journal.')
  try {
    const header = readHeader(path)
    if (!header.sqlite) return fail('schema', 'not an SQLite file, or its first page is damaged', 'Check the path; restore a backup.')
    if (!header.ours) return fail('schema', 'the database of another application', 'Pass the path of an Inkfast store.')
    return ok('schema', `${header.schema}, ${header.wal ? 'write-ahead log' : 'not yet in write-ahead mode'}`)
  } catch (error) {
    return fail('schema', failureOf(error).error.message, '')
  }
}

/** Findings about a folder store: problems of any of its files, and their total size. */
export function folderFindings(folder: string): readonly Finding[] {
  const own = [STORE_FILE, ...tenantsIn(folder).map(tenantFile)]
  const findings = own.flatMap((name) => fileFindings(join(folder, name), folder, name).map((finding) => ({ name, finding })))
  const about = findings.find(({ finding }) => finding.name === 'folder')?.finding
  const wrong = findings.filter(({ finding }) => finding.state !== 'ok' && !['folder', 'leftovers'].includes(finding.name))
  const total = own.reduce((sum, name) => sum + (fileThere(join(folder, name))?.size ?? 0), 0)
  const names = namesIn(folder)
  const strangers = names.filter((name) => name.endsWith('.db') && !own.includes(name))
  return [
    ...(about ? [about] : []),
    ok('files', `${one(own.length - 1, 'tenant')}, ${bytes(total)} in all`),
    ...wrong.map(({ name, finding }) => ({ ...finding, name: `${finding.name} of ${name}` })),
    ...leftoverFinding(names.filter((name) => /\.new-[0-9a-f]{8}$/.test(name))),
    ...(strangers.length > 0
      ? [warn('strangers', `${few(strangers)} is not the file of a tenant`, "Rename it to its tenant's file name, or move it elsewhere.")]
      : []),
  ]
}

export async function diskFindings(path: string): Promise<readonly Finding[]> {
  try {
    const disk = await statfs(dirname(path))
    const free = disk.bavail * disk.bsize
    const found = `${bytes(free)} free`
    if (free < DISK_FULL_BYTES) return [fail('disk', found, 'Free some space: commits fail when it is full.')]
    return [free < DISK_LOW_BYTES ? warn('disk', found, 'Free some space soon.') : ok('disk', found)]
  } catch {
    // The folder is missing, which is reported already, or the system does not tell.
    return []
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => fileThere(join(folder, name))?.isFile())
  } catch {
    // A folder that cannot be listed is reported above.
    return []
  }
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
