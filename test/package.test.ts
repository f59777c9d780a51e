// The package as a user gets it: built and packed from a copy of the project, installed into an empty folder without install
// scripts, and used from there.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkPackedFiles, declarationsReachedFrom } from './support/packed.ts'
import { emptyFolder, inProject, node, readJson, run, tsc } from './support/project.ts'

interface Manifest {
  readonly name: string
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

const manifest = readJson<Manifest>('package.json')
const subpaths = Object.keys(manifest.exports).map((subpath) => subpath.replace('.', manifest.name))
/** Subpaths that need a peer dependency, which the user installs. */
const NEEDS_PEERS: readonly string[] = ['inkfast/langgraph']
const work = emptyFolder()
const consumer = join(work.path, 'consumer')
const installed = join(consumer, 'node_modules', manifest.name)
let files: readonly string[] = []

// A copy, so that the build wipes nobody's dist while other tests run. Tests and benchmarks stay behind: no user gets them, and
// whether they compile is another question.
const LEFT_BEHIND = new Set(['node_modules', 'dist', 'coverage', '.git', 'test', 'bench'])

beforeAll(async () => {
  const copy = join(work.path, 'project')
  cpSync(inProject(), copy, { recursive: true, filter: (path) => !LEFT_BEHIND.has(basename(path)) })
  const { references } = readJson<{ references: readonly { path: string }[] }>('tsconfig.json')
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ files: [], references: references.filter(({ path }) => path !== 'test') }))
  symlinkSync(inProject('node_modules'), join(copy, 'node_modules'))
  const packed = await run('npm', ['pack', '--json', '--pack-destination', work.path], { cwd: copy })
  expect(packed.code, packed.out + packed.err).toBe(0)
  const tarball = readdirSync(work.path).find((name) => name.endsWith('.tgz')) as string

  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  const install = await run('npm', ['install', ...flags, join(work.path, tarball)], { cwd: consumer })
  expect(install.code, install.out + install.err).toBe(0)
  files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1))
    .sort()
})

afterAll(() => work[Symbol.dispose]())

describe('the package', () => {
  it('the package holds what it needs and nothing of the workshop', () => {
    expect(checkPackedFiles(files)).toEqual([])
  })

  it('the package would be reported with something too much or too little in it', () => {
    for (const stray of [
      'dist/model/ids.test.js',
      'src/index.ts',
      'dist/tsconfig.tsbuildinfo',
      'dist/index.js.map',
      'test/a.js',
      '.github/x.yml',
    ]) {
      expect(checkPackedFiles([...files, stray])).toEqual([expect.stringContaining(stray)])
    }
    for (const needed of ['LICENSE', 'README.md', 'dist/index.js', 'dist/backends/sqlite/checkpoint-worker.js']) {
      expect(checkPackedFiles(files.filter((file) => file !== needed))).toEqual([expect.stringContaining(needed)])
    }
    expect(checkPackedFiles(files.filter((file) => !file.endsWith('.sql')))).toHaveLength(1)
  })

  it.each(subpaths.filter((subpath) => !NEEDS_PEERS.includes(subpath)))('the package can be imported as %s', async (subpath) => {
    const json = subpath.endsWith('.json') ? ", { with: { type: 'json' } }" : ''
    const script = `const all = await import('${subpath}'${json}); if (Object.keys(all).length === 0) throw new Error('nothing in it')`
    const { code, err } = await node(['--input-type=module', '--eval', script], { cwd: consumer })
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('the package loads the LangGraph saver only where LangGraph is installed', async () => {
    const script = "const { InkfastSaver } = await import('inkfast/langgraph'); if (!InkfastSaver) throw new Error('no saver')"
    const without = await node(['--input-type=module', '--eval', script], { cwd: consumer })
    expect(without.err).toContain("Cannot find package '@langchain/langgraph-checkpoint'")
    const peers = join(consumer, 'node_modules', '@langchain')
    symlinkSync(inProject('node_modules', '@langchain'), peers)
    const withPeers = await node(['--input-type=module', '--eval', script], { cwd: consumer })
    expect({ code: withPeers.code, err: withPeers.err }).toEqual({ code: 0, err: '' })
    rmSync(peers)
  })

  it('the package keeps everything else to itself', async () => {
    const script = "await import('inkfast/dist/kernel/lane.js')"
    const { code, err } = await node(['--input-type=module', '--eval', script], { cwd: consumer })
    expect(code).not.toBe(0)
    expect(err).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })

  it('the package has a command that answers', async () => {
    const { code, out } = await node([join(consumer, 'node_modules', '.bin', 'inkfast'), '--help'], { cwd: consumer })
    expect(code).toBe(0)
    expect(out).toContain('verify')
  })

  it('the package appends, copies its log in its own thread and verifies', async () => {
    const script = `
      import { open } from 'inkfast'
      await using store = await open('agents.db')
      const session = await store.session('one')
      const data = { text: 'x'.repeat(20000) }
      const receipts = await Promise.all(Array.from({ length: 400 }, () => session.append('note.taken', data)))
      await Promise.all(Array.from({ length: 400 }, () => session.append('note.taken', data)))
      const { intact, events } = await store.verify({ receipts })
      const damage = await store.check()
      const { status, why } = await store.health()
      console.log(JSON.stringify({ intact, events, damage, why: why.filter((line) => line.includes('log')) }))
    `
    const { code, out, err } = await node(['--input-type=module', '--eval', script], { cwd: consumer })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toEqual({ intact: true, events: 801, damage: [], why: [] })
    expect(existsSync(join(consumer, 'agents.db-wal'))).toBe(false)
  })

  it('the package has types that a strict consumer can check, library files included', async () => {
    for (const name of ['@types', 'undici-types']) symlinkSync(inProject('node_modules', name), join(consumer, 'node_modules', name))
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
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const imports = subpaths
      .filter((subpath) => !subpath.endsWith('.json') && !NEEDS_PEERS.includes(subpath))
      .map((subpath, i) => `export * as part${i} from '${subpath}'`)
    const use =
      "import { open } from 'inkfast'\nexport const seq: Promise<number> = open('a.db').then((store) => store.head()).then((head) => head.seq)"
    writeFileSync(join(consumer, 'use.ts'), `${imports.join('\n')}\n${use}\n`)
    const right = await tsc(['-p', consumer], { cwd: consumer })
    expect(right.code, right.out).toBe(0)
    writeFileSync(join(consumer, 'use.ts'), use.replace('number', 'string'))
    const wrong = await tsc(['-p', consumer], { cwd: consumer })
    expect(wrong.out).toContain('TS2322')
  })

  it('the package does not tie its users to the database library', () => {
    const entry = (manifest.exports['.'] as { types: string }).types
    const readDeclaration = (path: string) => readFileSync(join(installed, path), 'utf8')
    const reached = declarationsReachedFrom(entry.slice(2), readDeclaration)
    expect(reached.length).toBeGreaterThan(10)
    expect(reached.filter((path) => readDeclaration(path).includes('node:sqlite'))).toEqual([])
    // The walk does find such a mention where there is one.
    const inside = declarationsReachedFrom('dist/backends/sqlite/database.d.ts', readDeclaration)
    expect(inside.filter((path) => readDeclaration(path).includes('node:sqlite'))).not.toEqual([])
  })

  it('the package names its command where it lies', () => {
    for (const target of Object.values(manifest.bin)) expect(existsSync(join(installed, target))).toBe(true)
    expect(dirname(manifest.bin.inkfast as string)).toBe('bin')
  })
})
