// The project as a folder of files: where it is, which files are ours, and how its programs are run.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const inProject = (...parts: readonly string[]): string => join(root, ...parts)
export const read = (path: string): string => readFileSync(inProject(path), 'utf8')
export const readJson = <T>(path: string): T => JSON.parse(read(path)) as T

// Made by programs, or not ours.
const SKIPPED = new Set(['node_modules', 'dist', 'coverage', '.git', '__pycache__'])

/** Files under a folder of the project ('' is all of it), as paths with '/', in order. */
export function filesUnder(folder: string, keep: (path: string) => boolean = () => true): readonly string[] {
  const found = readdirSync(inProject(folder), { withFileTypes: true }).flatMap((entry): readonly string[] => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesUnder(path, keep)
    return entry.isFile() && keep(path) ? [path] : []
  })
  return found.sort()
}

export const isTest = (path: string): boolean => path.endsWith('.test.ts')
export const isSource = (path: string): boolean => path.endsWith('.ts') && !isTest(path)

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly timeoutMs?: number
}

/** Runs a program with the project's own Node first on the path, as npm scripts do. */
export function run(command: string, args: readonly string[], { cwd = root, timeoutMs = 240_000 }: RunOptions = {}): Promise<Ran> {
  const path = `${inProject('node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...inherited } = process.env
  const child = spawn(command, args, { cwd, env: { ...inherited, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs })
  const text = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text.err += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...text }))
  })
}

export const node = (args: readonly string[], options?: RunOptions): Promise<Ran> => run(process.execPath, args, options)

/** The project's compiler. */
export const tsc = (args: readonly string[], options?: RunOptions): Promise<Ran> =>
  node([inProject('node_modules', 'typescript', 'bin', 'tsc'), ...args], options)

/** The place where `import … from 'inkfast'` finds the sources, so that nothing has to be built first. */
export const fromSource: readonly string[] = ['--import', inProject('test', 'support', 'from-source.ts')]

/** An empty folder that is gone when the scope is left. */
export function emptyFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'inkfast-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
