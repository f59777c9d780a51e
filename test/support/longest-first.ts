// Orders test files: those that take longest begin, so that no core is left to one of them at the end. Vitest knows the times of the run before;
// without one it would go by the size of the files.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST: readonly string[] = [
  'test/memory/million.test.ts',
  'test/work/processes-recovery.test.ts',
  'test/guides.test.ts',
  'test/work/queue-kill.test.ts',
  'test/postgres/isolation.test.ts',
  'test/cli/demo.test.ts',
  'test/conformance/backends.test.ts',
  'test/docs.test.ts',
  'test/conformance/databases.test.ts',
  'test/runs/kill.test.ts',
  'test/cli/database.test.ts',
  'test/support/postgres-server.test.ts',
  'test/work/processes-unheard.test.ts',
  'test/package.test.ts',
  'test/work/queue-redelivery.test.ts',
  'test/runs/crash.test.ts',
  'test/postgres/replies.test.ts',
  'test/work/cron-year.test.ts',
  'test/crash/blobs.test.ts',
  'test/memory/embeddings.test.ts',
  'test/postgres/plans.test.ts',
  'test/work/processes-kill.test.ts',
  'test/postgres/fast-path.test.ts',
  'test/runs/replay.test.ts',
  'test/postgres/pooler.test.ts',
  'test/cli/folder.test.ts',
  'test/runs/work.test.ts',
  'test/postgres/bounds.test.ts',
  'test/postgres/plans-work.test.ts',
  'test/checkpoints/crash.test.ts',
  'test/postgres/opening.test.ts',
  'test/postgres/outage.test.ts',
]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`))
  return place < 0 ? LONGEST.length : place
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Files of one project follow each other, because a process is shared only within a project.
    return (await super.sort(files)).toSorted(
      (one, other) => placeOf(one) - placeOf(other) || one.project.name.localeCompare(other.project.name),
    )
  }
}
