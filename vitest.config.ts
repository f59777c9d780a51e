import { defineConfig } from 'vitest/config'

// Two projects: quick tests beside the code, and the ones that start processes, pack the package or kill writers.
export default defineConfig({
  test: {
    coverage: {
      provider: 'v8',
      reporter: ['json-summary'],
      reportsDirectory: 'coverage',
      include: ['src/model/**/*.ts', 'src/kernel/**/*.ts', 'src/backends/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.d.ts'],
    },
    // Of both projects, which share what it provides.
    globalSetup: ['test/support/postgres-global.ts'],
    // Every core has its worker: most tests wait for processes, disks and servers.
    maxWorkers: '100%',
    projects: [
      { test: { name: 'rooms', include: ['src/**/*.test.ts'], testTimeout: 30_000 } },
      { test: { name: 'house', include: ['test/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 300_000 } },
    ],
  },
})
