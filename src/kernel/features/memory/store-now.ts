// Store time, asked of the store: a node that has not written yet knows only its own clock.

import type { Scope } from '../../wiring/scope.ts'

export const storeNow = async ({ engine, tenant }: Scope): Promise<number> => (await engine.backend.leases.read(tenant, [])).now
