// The package as a user gets it: built and packed from a copy of the project, installed into an empty folder without install
// scripts, and used from there.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AI_PROGRAMS, BUNDLED, byRolldown, runBundled, writePrograms } from './support/bundles.ts'
import { type Consumer, consumer } from './support/consumer.ts'
import { checkPackedFiles, declarationsReachedFrom } from './support/packed.ts'
import { node, readJson } from './support/project.ts'

interface Manifest {
  readonly name: string
  readonly bin: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

const manifest = readJson<Manifest>('package.json')
const subpaths = Object.keys(manifest.exports).map((subpath) => subpath.replace('.', manifest.name))
/** Subpaths that need a peer dependency, which the user installs. */
const NEEDS_PEERS: readonly string[] = ['inkfast/langgraph']
/** Modules of the package that are loaded by its main entry, at most. Each of them is looked for, read and linked. */
const MODULES_MOST = 40
let user: Consumer

beforeAll(async () => {
  user = await consumer()
  writePrograms(user)
  user.link('@types', 'undici-types')
})

afterAll(() => user[Symbol.dispose]())

/** Runs a program in the user's project and returns the JSON that it prints. */
async function answerOf(script: string, ...args: readonly string[]): Promise<unknown> {
  const { code, out, err } = await node([...args, '--input-type=module', '--eval', script], { cwd: user.path })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

describe('the package', () => {
  it('the package holds what it needs and nothing of the workshop', () => {
    expect(checkPackedFiles(user.files)).toEqual([])
  })

  it('the package would be reported with something too much or too little in it', () => {
    for (const stray of [
      'dist/types/model/ids.test.d.ts',
      'dist/checked/index.d.ts',
      'dist/kernel/lane.js',
      'docs/decisions/0001-unique-values-are-names.md',
      'src/index.ts',
      'test/a.js',
      '.github/x.yml',
    ]) {
      expect(checkPackedFiles([...user.files, stray])).toEqual([expect.stringContaining(stray)])
    }
    for (const needed of ['LICENSE', 'README.md', 'AGENTS.md', 'llms.txt', 'dist/index.js', 'docs/guide/getting-started.md']) {
      expect(checkPackedFiles(user.files.filter((file) => file !== needed))).toEqual([expect.stringContaining(needed)])
    }
  })

  it.each(subpaths.filter((subpath) => !NEEDS_PEERS.includes(subpath)))('the package can be imported as %s', async (subpath) => {
    const json = subpath.endsWith('.json') ? ", { with: { type: 'json' } }" : ''
    const script = `const all = await import('${subpath}'${json}); if (Object.keys(all).length === 0) throw new Error('nothing in it')`
    const { code, err } = await node(['--input-type=module', '--eval', script], { cwd: user.path })
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('the package is loaded as few modules, and the PostgreSQL driver only for a database', async () => {
    const script = `
      import { registerHooks } from 'node:module'
      const files = []
      registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) })
      const { open } = await import('inkfast')
      const own = files.filter((url) => url.includes('/node_modules/inkfast/')).length
      const driver = () => files.some((url) => url.includes('/node_modules/pg/'))
      const before = driver()
      await open('postgres://nobody@127.0.0.1:1/none').catch(() => {})
      console.log(JSON.stringify({ own, before, after: driver() }))
    `
    const found = (await answerOf(script)) as { own: number }
    expect(found).toEqual({ own: expect.any(Number), before: false, after: true })
    expect(found.own).toBeGreaterThan(0)
    expect(found.own).toBeLessThanOrEqual(MODULES_MOST)
  })

  it('the package loads the LangGraph saver only where LangGraph is installed, and its errors are those of the store', async () => {
    const script = `
      import { InkError, open } from 'inkfast'
      import { sqliteBackend } from 'inkfast/sqlite'
      import { InkfastSaver } from 'inkfast/langgraph'
      const store = await open(':memory:')
      const saver = new InkfastSaver(store)
      await store.close()
      const failures = await Promise.all([
        saver.getTuple({ configurable: { thread_id: 't' } }).catch((error) => error),
        (async () => sqliteBackend({ path: 'missing/folder/a.db' }))().catch((error) => error),
      ])
      console.log(JSON.stringify(failures.map((error) => [error instanceof InkError, error.code])))
    `
    const without = await node(['--input-type=module', '--eval', script], { cwd: user.path })
    expect(without.err).toContain("Cannot find package '@langchain/langgraph-checkpoint'")
    user.link('@langchain')
    expect(await answerOf(script)).toEqual([
      [true, 'STORE_CLOSED'],
      [true, 'FOLDER_MISSING'],
    ])
    rmSync(join(user.path, 'node_modules', '@langchain'))
  })

  it('the package finds the optional model beside itself, wherever the program was started', async () => {
    user.link('@energetic-ai')
    const script = `
      const { open } = await import(${JSON.stringify(join(user.installed, 'dist', 'index.js'))})
      await using store = await open({ url: ':memory:', embedder: 'local', airGapped: true })
      const docs = store.vectors('docs', { dimensions: 512 })
      await docs.upsert({ id: 'a', content: 'metric units' })
      console.log(JSON.stringify((await docs.get('a')).vector.length))
    `
    const { code, out, err } = await node(['--input-type=module', '--eval', script], { cwd: dirname(user.path) })
    expect({ code, out, err }).toEqual({ code: 0, out: '512\n', err: '' })
  })

  it('the package says in a stack where its sources are', async () => {
    const script = "import { open } from 'inkfast'; open({ nope: 1 }).catch((error) => console.log(JSON.stringify(error.stack)))"
    expect(await answerOf(script, '--enable-source-maps')).toMatch(/src\/open\.ts:\d+/)
  })

  it('the package is one file of a bundle: SQL and threads are in it', async () => {
    const { out, left } = await runBundled(user, 'bundled.ts', byRolldown)
    expect(JSON.parse(out)).toEqual(BUNDLED)
    expect(left).toEqual(['bundled.db'])
  })

  it('the package serves programs with the AI SDK that a strict compiler accepts, as they are and bundled', async () => {
    user.link('ai')
    // The SDK's own types do not pass stricter checks.
    const compiled = await user.compile(Object.keys(AI_PROGRAMS), { skipLibCheck: true, exactOptionalPropertyTypes: false })
    expect(compiled.code, compiled.out).toBe(0)
    for (const [program, says] of Object.entries(AI_PROGRAMS)) {
      const { code, out, err } = await node([join(user.path, program)], { cwd: mkdtempSync(join(user.path, 'run-')) })
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toMatch(says)
      expect((await runBundled(user, program, byRolldown)).out).toMatch(says)
    }
  })

  it('the package keeps everything else to itself', async () => {
    const script = "await import('inkfast/dist/kernel/lane.js')"
    const { code, err } = await node(['--input-type=module', '--eval', script], { cwd: user.path })
    expect(code).not.toBe(0)
    expect(err).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })

  it('the package has a command that runs on the versions of Node that engines names, and refuses others in one line', async () => {
    expect(manifest.engines.node).toBe('>=22.22.3 <23 || >=24.15')
    const command = join(user.path, 'node_modules', '.bin', 'inkfast')
    const on = async (version: string) => {
      const other = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
      const { code, err } = await node(['--import', `data:text/javascript,${other}`, command, '--version'], { cwd: user.path })
      expect(err === '' || /^inkfast needs Node .+\n$/.test(err), err).toBe(true)
      return code
    }
    for (const version of ['22.22.3', '22.23.0', '24.15.0', '25.0.0', '26.3.0']) expect([version, await on(version)]).toEqual([version, 0])
    for (const version of ['20.19.0', '22.22.2', '22.21.9', '23.11.0', '24.14.1'])
      expect([version, await on(version)]).toEqual([version, 70])
  })

  it('the package has a command that answers', async () => {
    const { code, out } = await node([join(user.path, 'node_modules', '.bin', 'inkfast'), '--help'], { cwd: user.path })
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
    expect(await answerOf(script)).toEqual({ intact: true, events: 801, damage: [], why: [] })
    expect(existsSync(join(user.path, 'agents.db-wal'))).toBe(false)
  })

  it('the package has types that a strict consumer can check, library files included', async () => {
    const imports = subpaths
      .filter((subpath) => !subpath.endsWith('.json') && !NEEDS_PEERS.includes(subpath))
      .map((subpath, i) => `export * as part${i} from '${subpath}'`)
    const use =
      "import { open } from 'inkfast'\nexport const seq: Promise<number> = open('a.db').then((store) => store.head()).then((head) => head.seq)"
    writeFileSync(join(user.path, 'use.ts'), `${imports.join('\n')}\n${use}\n`)
    const right = await user.compile(['use.ts', 'bundled.ts'])
    expect(right.code, right.out).toBe(0)
    writeFileSync(join(user.path, 'use.ts'), use.replace('number', 'string'))
    const wrong = await user.compile(['use.ts'])
    expect(wrong.out).toContain('TS2322')
  })

  it('the package does not tie its users to the database library', () => {
    const entry = (manifest.exports['.'] as { types: string }).types
    const readDeclaration = (path: string) => readFileSync(join(user.installed, path), 'utf8')
    const reached = declarationsReachedFrom(entry.slice(2), readDeclaration)
    expect(reached.length).toBeGreaterThan(10)
    expect(reached.filter((path) => readDeclaration(path).includes('node:sqlite'))).toEqual([])
    // The walk does find such a mention where there is one.
    const inside = declarationsReachedFrom('dist/types/backends/sqlite/database.d.ts', readDeclaration)
    expect(inside.filter((path) => readDeclaration(path).includes('node:sqlite'))).not.toEqual([])
  })

  it('the package names its command where it lies', () => {
    for (const target of Object.values(manifest.bin)) expect(existsSync(join(user.installed, target))).toBe(true)
    expect(dirname(manifest.bin.inkfast as string)).toBe('bin')
  })
})
