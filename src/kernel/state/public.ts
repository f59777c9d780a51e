// The types of this feature that users see.

export type { KeyValueState, ListStateOptions, SetStateOptions, StateEntry } from './state.ts'
