// All cases, group by group.

import type { Case } from '../case.ts'
import { audits } from './audit.ts'
import { batches } from './batches.ts'
import { blobPieces } from './blob-pieces.ts'
import { blobs } from './blobs.ts'
import { chain } from './chain.ts'
import { claims } from './claims.ts'
import { collectedBlobs } from './collected-blobs.ts'
import { collections } from './collections.ts'
import { dues } from './due.ts'
import { erasure } from './erasure.ts'
import { guards } from './guards.ts'
import { keys } from './keys.ts'
import { leases } from './leases.ts'
import { life } from './life.ts'
import { lists } from './lists.ts'
import { paging } from './paging.ts'
import { readies } from './ready.ts'
import { resent } from './resent.ts'
import { rows } from './rows.ts'
import { states } from './states.ts'
import { tenants } from './tenants.ts'
import { texts } from './texts.ts'
import { upkeep } from './upkeep.ts'
import { values } from './values.ts'
import { wakeups } from './wakeups.ts'
import { workers } from './workers.ts'

export const cases: readonly Case[] = [
  ...batches,
  ...keys,
  ...resent,
  ...chain,
  ...paging,
  ...wakeups,
  ...guards,
  ...rows,
  ...lists,
  ...tenants,
  ...states,
  ...leases,
  ...blobs,
  ...blobPieces,
  ...values,
  ...texts,
  ...collections,
  ...collectedBlobs,
  ...audits,
  ...workers,
  ...dues,
  ...readies,
  ...claims,
  ...erasure,
  ...upkeep,
  ...life,
]
