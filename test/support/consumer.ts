// A project of a user: an empty folder outside of ours with the packed package installed, without install scripts.

import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { emptyFolder, inProject, type Ran, readJson, run, tsc } from './project.ts'

export interface Consumer extends Disposable {
  readonly path: string
  /** Where the package is installed. */
  readonly installed: string
  /** The files of the package, in order. */
  readonly files: readonly string[]
  /** Makes a package that our project has available to the user's. */
  link(...names: readonly string[]): void
  /** Compiles files of the project under `strict`, unless options say otherwise with all libraries. */
  compile(files: readonly string[], options?: Readonly<Record<string, unknown>>): Promise<Ran>
}

// A copy is built, so that nobody's dist is wiped while other tests run. Tests and benchmarks stay behind: no user gets them.
const LEFT_BEHIND = new Set(['node_modules', 'dist', 'coverage', '.git', 'test', 'bench'])

export async function consumer(): Promise<Consumer> {
  const folder = emptyFolder()
  try {
    return await installedIn(folder)
  } catch (error) {
    folder[Symbol.dispose]()
    throw error
  }
}

async function installedIn(folder: ReturnType<typeof emptyFolder>): Promise<Consumer> {
  const copy = join(folder.path, 'project')
  cpSync(inProject(), copy, { recursive: true, filter: (path) => !LEFT_BEHIND.has(basename(path)) })
  symlinkSync(inProject('node_modules'), join(copy, 'node_modules'))
  ok(await run('npm', ['pack', '--json', '--pack-destination', folder.path], { cwd: copy }))
  const tarball = readdirSync(folder.path).find((name) => name.endsWith('.tgz')) as string

  const path = join(folder.path, 'consumer')
  mkdirSync(path)
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  ok(await run('npm', ['install', ...flags, join(folder.path, tarball)], { cwd: path }))
  const installed = join(path, 'node_modules', readJson<{ name: string }>('package.json').name)
  const files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1))
    .sort()
  return {
    path,
    installed,
    files,
    link: (...names) => {
      for (const name of names) {
        const place = join(path, 'node_modules', name)
        mkdirSync(dirname(place), { recursive: true })
        symlinkSync(inProject('node_modules', name), place)
      }
    },
    compile: (names, options) => {
      writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...options }, files: names }))
      return tsc(['-p', path], { cwd: path })
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true,
}

function ok({ code, out, err }: Ran): void {
  if (code !== 0) throw new Error(`The package could not be made or installed:\n${out}${err}`)
}
