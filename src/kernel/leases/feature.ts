// Leases: exclusive rights for a time, renewed while their holder lives, with a fence that grows with each holder.

import { plan } from '../execute.ts'
import type { Feature } from '../feature.ts'
import { keeperOf } from './keeper.ts'
import { lease } from './lease-decider.ts'

export const leases: Feature = {
  name: 'leases',
  deciders: [lease],
  onOpen: (engine) => void keeperOf(engine),
  onClose: (engine) => keeperOf(engine).close((tenant, parts) => plan({ engine, tenant, actor: '' }, parts)),
}
