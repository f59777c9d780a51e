// Negative controls: each takes one promise away from a sound backend, and names the invariants that must be seen to break. A suite
// that stays green over one of these tests nothing.

import { auditSabotages } from './audit.ts'
import { blobSabotages } from './blobs.ts'
import { collectionSabotages } from './collections.ts'
import { commitSabotages } from './commits.ts'
import { dueSabotages } from './due.ts'
import { journalSabotages } from './journal.ts'
import { leaseSabotages } from './leases.ts'
import { lifeSabotages } from './life.ts'
import { readySabotages } from './ready.ts'
import { rowSabotages } from './rows.ts'
import type { Sabotage } from './spoil.ts'
import { stateSabotages } from './states.ts'
import { textSabotages } from './texts.ts'
import { upkeepSabotages } from './upkeep.ts'
import { valueSabotages } from './values.ts'
import { workerSabotages } from './workers.ts'

export type { Sabotage }

export const sabotages: readonly Sabotage[] = [
  ...commitSabotages,
  ...journalSabotages,
  ...rowSabotages,
  ...upkeepSabotages,
  ...lifeSabotages,
  ...stateSabotages,
  ...leaseSabotages,
  ...blobSabotages,
  ...valueSabotages,
  ...textSabotages,
  ...collectionSabotages,
  ...auditSabotages,
  ...workerSabotages,
  ...dueSabotages,
  ...readySabotages,
]
