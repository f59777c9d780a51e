// How `npm test` judges files that failed: a file that passes when it is run again is flaky, and one that fails again is a failure.

import { expect, test } from 'vitest'
import { counts, failedFiles, judge, type Report } from '../scripts/test-report.ts'

/** A report of files, each with the states of its tests. */
function reportOf(files: Readonly<Record<string, readonly string[]>>, broken: readonly string[] = []): Report {
  const all = Object.values(files).flat()
  const count = (state: string) => all.filter((one) => one === state).length
  return {
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numPendingTests: count('pending'),
    numTodoTests: 0,
    testResults: Object.entries(files).map(([name, states]) => ({
      name,
      status: states.includes('failed') || broken.includes(name) ? 'failed' : 'passed',
      assertionResults: states.map((status) => ({ status })),
    })),
  }
}

const first = reportOf({ a: ['passed', 'pending'], b: ['passed', 'failed', 'failed'], c: ['failed'], d: [] }, ['d'])

test('a file that could not be loaded counts as one failure', () => {
  expect(failedFiles(first)).toEqual(['b', 'c', 'd'])
  expect(counts(first)).toEqual({ passed: 2, failed: 4, skipped: 1 })
})

test('a file that passes when it is run again is flaky, and fails the check', () => {
  const second = reportOf({ b: ['passed', 'passed', 'passed'], c: ['failed'], d: ['passed'] })
  expect(judge(first, second, { forgiving: false })).toEqual({ counts: { passed: 2, failed: 4, skipped: 1 }, flaky: ['b', 'd'] })
})

test('a flaky file does not fail the check in CI, and one that fails twice does', () => {
  const second = reportOf({ b: ['passed', 'passed', 'passed'], c: ['failed'], d: ['passed'] })
  expect(judge(first, second, { forgiving: true })).toEqual({ counts: { passed: 5, failed: 1, skipped: 1 }, flaky: ['b', 'd'] })
})

test('a file that was not run again, or was broken then, is no flaky file', () => {
  const second = reportOf({ b: ['passed'], c: ['passed'] }, ['b'])
  expect(judge(first, second, { forgiving: true })).toEqual({ counts: { passed: 3, failed: 3, skipped: 1 }, flaky: ['c'] })
})
