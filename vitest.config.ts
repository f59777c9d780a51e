import { availableParallelism } from 'node:os'
import type { Plugin } from 'vitest/config'
import { defineConfig } from 'vitest/config'
import { PARTS, WATCHED } from './scripts/bar.ts'
import { LongestFirst } from './test/support/longest-first.ts'

// A long run repeats some tests hundreds of times, often on a busy machine.
const LONG = process.env.INKFAST_TEST_ROUNDS === 'long'

// Tests wait for events as long as a busy machine may take. An event that never comes fails the test all the same.
const patient = { poll: { timeout: LONG ? 90_000 : 20_000, interval: 20 } }

/** Leaves coverage out where the others are watched. */
const unwatched: Plugin = {
  name: 'unwatched',
  configureVitest: ({ project }) => {
    project.config.coverage = { ...project.config.coverage, enabled: false }
  },
}

// Test files share processes, because loading the sources anew for each took a fifth of the run. Hooks of support modules are in the setup file.
// Node loads the sources itself, which spares the processor a tenth of a run; where branches are counted, vitest has to.
const COVERS = process.argv.includes('--coverage')
const shared = {
  isolate: false,
  setupFiles: ['test/support/setup.ts'],
  expect: patient,
  experimental: { viteModuleRunner: COVERS, nodeLoader: false },
}
const ALONE = ['test/work/reserve-corners.test.ts']
const testTimeout = LONG ? 1_800_000 : 300_000
const house = { ...shared, testTimeout, hookTimeout: 300_000 }

// Three projects: the tests whose coverage counts, quick ones beside the code, and those that start processes, pack the package or kill writers.
// A fourth has the tests that look at their whole process, and so have one to themselves.
export default defineConfig({
  test: {
    coverage: {
      provider: 'v8',
      reporter: ['json-summary'],
      reportsDirectory: 'coverage',
      include: Object.values(PARTS),
      exclude: ['**/*.test.ts', '**/*.d.ts'],
    },
    // Of all projects, which share what they provide.
    globalSetup: ['test/support/bundled-programs.ts', 'test/support/postgres-global.ts'],
    // One worker more than cores, because most tests wait for processes, disks and servers.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Stores that tests break say so: their log lines are shown with the test that failed. A long run also tells what it counted.
    silent: LONG ? false : 'passed-only',
    projects: [
      { test: { ...house, name: 'bar', include: [...WATCHED] } },
      {
        plugins: [unwatched],
        test: { ...shared, name: 'rooms', include: ['src/**/*.test.ts'], exclude: [...WATCHED], testTimeout: LONG ? testTimeout : 30_000 },
      },
      { plugins: [unwatched], test: { ...house, name: 'house', include: ['test/**/*.test.ts'], exclude: [...WATCHED, ...ALONE] } },
      { plugins: [unwatched], test: { ...house, name: 'alone', include: [...ALONE], isolate: true } },
    ],
  },
})
