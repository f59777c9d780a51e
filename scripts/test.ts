// The three checks. Each runs types, style and tests; the last line counts.
//
//   npm run quick   tests that need no server: those beside the code, the house rules, the documentation
//   npm test        every promise on every engine, with few rounds; with CI=true or --coverage also the coverage bar
//   npm run long    the same with many rounds and a new seed, which it prints; `npm run long -- --seed n` repeats one
//
// Files that failed are run once more, alone. One that passes then is flaky: it fails the check except in CI.
// Other arguments go to vitest: `npm test -- src/kernel/writing/lane.test.ts`.

import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BAR, PARTS } from './bar.ts'
import { counts, failedFiles, judge, type Report, type Verdict } from './test-report.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { rounds, seed, covers, passedOn } = takeArguments(process.argv.slice(2))
const tool = (...parts: readonly string[]): string => join(root, 'node_modules', ...parts)

const inCi = process.env.CI === 'true'
// More failures than this have one reason, which a second run does not change.
const RUN_AGAIN_MOST = 20
const QUICK = ['src/**/*.test.ts', 'test/{tidy,tidy-features,session-kit,docs,options,surface}.test.ts']

interface Arguments {
  readonly rounds: 'quick' | 'short' | 'long'
  /** The first seed of the tests. Every short run has the same. */
  readonly seed: number
  /** Counting branches makes the tests slower, so only CI does it. */
  readonly covers: boolean
  readonly passedOn: readonly string[]
}

function takeArguments(given: readonly string[]): Arguments {
  const at = given.indexOf('--seed')
  const own = ['--quick', '--long', '--coverage', '--seed']
  const passedOn = given.filter((word, i) => !own.includes(word) && (at < 0 || i !== at + 1))
  const rounds = given.includes('--quick') ? 'quick' : given.includes('--long') ? 'long' : 'short'
  const seed = at >= 0 ? Number(given[at + 1]) : rounds === 'long' ? randomInt(1, 2 ** 31) : 1
  if (!Number.isSafeInteger(seed) || seed < 1) throw new Error(`Invalid --seed "${given[at + 1]}": expected an integer ≥ 1.`)
  const whole = process.env.CI === 'true' && rounds === 'short' && passedOn.length === 0
  return { rounds, seed, covers: whole || given.includes('--coverage'), passedOn }
}

/** Says what it does, does it with the project's own Node, and tells whether it went well. */
function step(what: string, program: string, args: readonly string[]): boolean {
  console.log(`\n▸ ${what}`)
  const settings = { INKFAST_TEST_ROUNDS: rounds, INKFAST_TEST_SEED: String(seed) }
  const env = { ...process.env, ...settings, PATH: `${tool('.bin')}${delimiter}${process.env.PATH ?? ''}` }
  const { status, error } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: 'inherit', env })
  if (error) console.error(error.message)
  return status === 0
}

/** Runs vitest with its usual output, and returns its report; undefined if it left none. */
function runVitest(what: string, args: readonly string[]): { readonly well: boolean; readonly report: Report | undefined } {
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-test-'))
  const file = join(folder, 'report.json')
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
    const well = step(what, tool('vitest', 'vitest.mjs'), ['run', ...reporters, ...args])
    return { well, report: JSON.parse(readFileSync(file, 'utf8')) as Report }
  } catch (error) {
    console.error(`The tests left no report: ${error instanceof Error ? error.message : error}`)
    return { well: false, report: undefined }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runTests(): Verdict {
  const coverage = covers ? ['--coverage', '--coverage.reportOnFailure'] : []
  const files = rounds === 'quick' && passedOn.length === 0 ? globSync(QUICK, { cwd: root }) : passedOn
  const { well, report } = runVitest(`tests${told}`, [...coverage, ...files])
  if (!report) return { counts: { passed: 0, failed: 1, skipped: 0 }, flaky: [] }
  const counted = counts(report)
  if (well) return { counts: counted, flaky: [] }
  const failed = failedFiles(report)
  // Vitest also fails on errors outside of any test; that is never counted as green.
  if (failed.length === 0) return { counts: { ...counted, failed: Math.max(counted.failed, 1) }, flaky: [] }
  if (failed.length > RUN_AGAIN_MOST) return { counts: counted, flaky: [] }
  const options = passedOn.filter((word, i) => word.startsWith('-') || passedOn[i - 1] === '-t')
  const again = runVitest('once more, alone: the files that failed', ['--no-file-parallelism', ...options, ...failed])
  return again.report ? judge(report, again.report, { forgiving: inCi }) : { counts: counted, flaky: [] }
}

type Coverage = Readonly<Record<string, { readonly branches: { readonly total: number; readonly covered: number } } | undefined>>

function checkCoverage(): boolean {
  console.log('\n▸ branch coverage')
  let summary: Coverage
  try {
    summary = JSON.parse(readFileSync(join(root, 'coverage', 'coverage-summary.json'), 'utf8')) as Coverage
  } catch {
    console.error('  there is no coverage summary, so the bar was not reached')
    return false
  }
  return Object.entries(PARTS)
    .map(([part, pattern]) => {
      const files = globSync(pattern, { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
      const found = files.map((file) => summary[join(root, file)]?.branches)
      const total = found.reduce((sum, branches) => sum + (branches?.total ?? 0), 0)
      const covered = found.reduce((sum, branches) => sum + (branches?.covered ?? 0), 0)
      // A file that no test has loaded is not in the summary, and must not look as if it had no branches.
      const unseen = files.filter((_, i) => found[i] === undefined)
      const percent = total === 0 ? 100 : (100 * covered) / total
      const well = files.length > 0 && unseen.length === 0 && percent >= BAR
      console.log(
        `  ${part.padEnd(7)} ${percent.toFixed(1).padStart(5)} % of ${total} branches (${pattern})${well ? '' : ` — below ${BAR} %`}`,
      )
      for (const file of unseen) console.log(`          ${file} was loaded by no test`)
      return well
    })
    .every(Boolean)
}

const told = rounds === 'long' ? ` (seed ${seed}; repeat with: npm run long -- --seed ${seed})` : ''
const checks: [string, boolean][] = [
  ['the type check', step('type check (tsc -b)', tool('typescript', 'bin', 'tsc'), ['-b'])],
  ['the style check', step('style (biome check)', tool('@biomejs', 'biome', 'bin', 'biome'), ['check', '.'])],
]
const { counts: tests, flaky } = runTests()
if (covers) checks.push(['the coverage bar', checkCoverage()])

const broken = checks.filter(([, well]) => !well).map(([name]) => name)
for (const name of broken) console.log(`\n✗ ${name} failed; it is counted as one failure below`)
if (flaky.length > 0) console.log('')
for (const file of flaky) console.log(`flaky: ${relative(root, file)} failed and then passed`)
const failed = tests.failed + broken.length
if (told !== '') console.log(`\nlong run${told}`)
console.log(`\n${tests.passed} passed, ${failed} failed, ${tests.skipped} skipped`)
process.exitCode = failed === 0 ? 0 : 1
