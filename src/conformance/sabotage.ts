// Negative controls: each takes one promise away from a sound backend, and names the invariants that must be seen to break. A suite
// that stays green over one of these tests nothing.

import { blobSabotages } from './sabotage/blobs.ts'
import { commitSabotages } from './sabotage/commits.ts'
import { dueSabotages } from './sabotage/due.ts'
import { journalSabotages } from './sabotage/journal.ts'
import { leaseSabotages } from './sabotage/leases.ts'
import { lifeSabotages } from './sabotage/life.ts'
import { readySabotages } from './sabotage/ready.ts'
import { rowSabotages } from './sabotage/rows.ts'
import type { Sabotage } from './sabotage/spoil.ts'
import { stateSabotages } from './sabotage/states.ts'
import { upkeepSabotages } from './sabotage/upkeep.ts'

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
  ...dueSabotages,
  ...readySabotages,
]
