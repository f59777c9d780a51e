// Key-value state of a tenant and of its sessions.

import type { StateRow } from '../../../model/state.ts'
import type { Feature } from '../../feature.ts'
import { refuseDeleted } from '../../session/refuse-deleted.ts'
import { referencesOf } from './content.ts'
import { forkState } from './fork-state.ts'
import { clearSession, type KeyValueState, keyValueState, removeExpired } from './state.ts'
import { state } from './state-decider.ts'

export interface StateMembers {
  /** Values under keys: JSON or bytes, with compare-and-set and expiry. */
  readonly state: KeyValueState
}

export const keyValues: Feature<StateMembers, StateMembers> = {
  name: 'state',
  deciders: [state],
  refs: { state: ({ content }: StateRow) => (content ? referencesOf(content) : []) },
  onSessionDeleted: clearSession,
  onForked: forkState,
  onMaintain: async (scope, now) => ({ stateExpired: await removeExpired(scope, now) }),
  store: (scope) => ({ state: keyValueState(scope) }),
  session: ({ scope, id }) => ({
    state: refuseDeleted(scope, id, keyValueState(scope, id), { reads: ['get', 'exists', 'list'], writes: ['delete'] }),
  }),
}
