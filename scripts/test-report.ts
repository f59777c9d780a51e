// What a test run says about itself: its counts, the files that failed, and which of them were flaky.

/** The part of vitest's JSON report that is used. */
export interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** A file that could not be read, or whose preparations failed, has no failed test and still counts as one. */
export function counts({ numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults }: Report): Counts {
  const untried = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((a) => a.status === 'failed'),
  )
  return { passed: numPassedTests, failed: numFailedTests + untried.length, skipped: numPendingTests + numTodoTests }
}

export const failedFiles = ({ testResults }: Report): readonly string[] =>
  testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)

export interface Verdict {
  readonly counts: Counts
  /** Files that failed and then passed. */
  readonly flaky: readonly string[]
}

/** Puts a run and the second run of its failed files together. Forgiving, a flaky file counts as passed; otherwise as failed. */
export function judge(first: Report, second: Report, { forgiving }: { readonly forgiving: boolean }): Verdict {
  const again = new Set(failedFiles(second))
  const passed = new Set(second.testResults.filter(({ status }) => status === 'passed').map(({ name }) => name))
  const flaky = failedFiles(first).filter((name) => passed.has(name) && !again.has(name))
  const before = counts(first)
  if (!forgiving) return { counts: before, flaky }
  const forgiven = flaky.reduce((sum, name) => sum + failuresOf(first, name), 0)
  return { counts: { ...before, passed: before.passed + forgiven, failed: before.failed - forgiven }, flaky }
}

function failuresOf({ testResults }: Report, name: string): number {
  const failed = testResults.find((file) => file.name === name)?.assertionResults.filter(({ status }) => status === 'failed')
  return Math.max(failed?.length ?? 0, 1)
}
