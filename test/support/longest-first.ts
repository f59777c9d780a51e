// The order of test files: those that take longest begin, so that no core is left to one of them at the end. Vitest knows that by itself from the run
// before; where there was none it would go by their size.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONG: readonly string[] = [
  'test/conformance/databases.test.ts',
  'test/crash/crash.test.ts',
  'test/runs/crash.test.ts',
  'test/cli/database.test.ts',
  'test/work/cron-year.test.ts',
  'test/work/queue-kill.test.ts',
  'test/postgres/isolation.test.ts',
  'test/postgres/fast-path.test.ts',
  'test/conformance/faults.test.ts',
  'test/conformance/backends.test.ts',
  'test/work/queue-faults.test.ts',
  'test/runs/kill.test.ts',
  'test/work/processes-kill.test.ts',
  'test/crash/blobs.test.ts',
  'test/cli/work-database.test.ts',
  'test/support/postgres-server.test.ts',
  'src/kernel/cron/year.test.ts',
]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONG.findIndex((path) => moduleId.endsWith(`/${path}`))
  return place < 0 ? LONG.length : place
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}
