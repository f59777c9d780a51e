// `npm test`: types, style, tests with coverage, and the bar under the parts that everything rests on. The last line counts.
// With arguments (`npm test -- src/kernel/lane.test.ts`) they go to vitest, and coverage is left out.

import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BAR, PARTS } from './bar.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const passedOn = process.argv.slice(2)
const tool = (...parts: readonly string[]): string => join(root, 'node_modules', ...parts)

/** Says what it does, does it with the project's own Node, and tells whether it went well. */
function step(what: string, program: string, args: readonly string[]): boolean {
  console.log(`\n▸ ${what}`)
  const env = { ...process.env, PATH: `${tool('.bin')}${delimiter}${process.env.PATH ?? ''}` }
  const { status, error } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: 'inherit', env })
  if (error) console.error(error.message)
  return status === 0
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** A file that could not be read, or whose preparations failed, has no failed test and still counts as one. */
function counts({ numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults }: Report): Counts {
  const untried = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((a) => a.status === 'failed'),
  )
  return { passed: numPassedTests, failed: numFailedTests + untried.length, skipped: numPendingTests + numTodoTests }
}

function runTests(): Counts {
  const folder = mkdtempSync(join(tmpdir(), 'inkfast-test-'))
  const file = join(folder, 'report.json')
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
    const coverage = passedOn.length === 0 ? ['--coverage', '--coverage.reportOnFailure'] : []
    const well = step('tests', tool('vitest', 'vitest.mjs'), ['run', ...coverage, ...reporters, ...passedOn])
    const counted = counts(JSON.parse(readFileSync(file, 'utf8')) as Report)
    // Vitest also fails on errors outside of any test; that is never counted as green.
    return !well && counted.failed === 0 ? { ...counted, failed: 1 } : counted
  } catch (error) {
    console.error(`The tests left no report: ${error instanceof Error ? error.message : error}`)
    return { passed: 0, failed: 1, skipped: 0 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
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

const checks: [string, boolean][] = [
  ['the type check', step('type check (tsc -b)', tool('typescript', 'bin', 'tsc'), ['-b'])],
  ['the style check', step('style (biome check)', tool('@biomejs', 'biome', 'bin', 'biome'), ['check', '.'])],
]
const tests = runTests()
if (passedOn.length === 0) checks.push(['the coverage bar', checkCoverage()])

const broken = checks.filter(([, well]) => !well).map(([name]) => name)
for (const name of broken) console.log(`\n✗ ${name} failed; it is counted as one failure below`)
const failed = tests.failed + broken.length
console.log(`\n${tests.passed} passed, ${failed} failed, ${tests.skipped} skipped`)
process.exitCode = failed === 0 ? 0 : 1
