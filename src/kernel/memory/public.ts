// The types of this feature that users see.

export type { MemoryId, MemoryKind, MemoryLink, MemorySource, MemoryValidity } from '../../model/memory.ts'
export type { CoreBlock, CoreMemory, CoreVersion, SetCoreOptions } from './core.ts'
export type { MemoryMembers, SessionMemoryMembers } from './feature.ts'
export type { ForgetOptions } from './forget.ts'
export type { MemoryFilter } from './item-filter.ts'
export type { LinkOptions, ListMemoryOptions, UpdateMemoryOptions } from './items.ts'
export type { StoreMemory } from './memory.ts'
export type { MemoryItem } from './memory-item.ts'
export type { Remembering, RememberOptions } from './remember.ts'
