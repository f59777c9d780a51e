// The types of this feature that users see.

export type { DeclaredEntry, StateEntryOptions } from './declared-entry.ts'
export type { KeyValueState, ListStateOptions, StateEntry, WrittenState } from './state.ts'
export type { SetStateOptions, StateChange } from './take-changes.ts'
