// The types of this feature that users see.

export type { DeclaredEntry, StateEntryOptions } from './declared-entry.ts'
export type { KeyValueState, ListStateOptions, SetStateOptions, StateEntry } from './state.ts'
