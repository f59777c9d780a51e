// Items of long-term memory, and the blocks of core memory that are always in the prompt.

import type { Json } from './data.ts'
import type { Id, SessionId } from './ids.ts'

export type MemoryId = Id<'memory'>

export const MEMORY_KINDS = ['note', 'fact', 'preference', 'summary', 'context'] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]

/** Kinds of scopes. `shared` stands alone; the others are followed by a slash and a name. */
export const MEMORY_SCOPES = ['user', 'session', 'channel', 'workspace', 'agent', 'principal'] as const

/** The provenance of an item: an event, a message or a file, and the session or file in which its neighbours are. */
export interface MemorySource {
  readonly event?: string
  readonly message?: string
  readonly file?: string
  readonly session?: string
}

/** When an item is true: from and until these times, in Unix milliseconds, and no longer once another item has replaced it. */
export interface MemoryValidity {
  readonly from?: number
  readonly until?: number
  readonly supersededBy?: MemoryId
  /** When the item that replaced it became true: the beginning of its validity, or when it was said. */
  readonly supersededAt?: number
}

export interface MemoryLink {
  readonly to: MemoryId
  readonly type: string
  readonly weight: number
}

/** Members of an item that the caller sets. */
export interface MemoryContent {
  /** Absent when the payload was erased. */
  readonly text?: string
  readonly tags?: readonly string[]
  readonly source?: MemorySource
  readonly kind: MemoryKind
  /** From 0 to 1. */
  readonly importance?: number
  /** From 0 to 1. */
  readonly confidence?: number
  readonly metadata?: Readonly<Record<string, Json>>
  readonly valid?: MemoryValidity
}

/** `purging` items are being removed: their text is erased step by step. */
export type MemoryState = 'active' | 'forgotten' | 'purging'

export interface MemoryRow extends MemoryContent {
  readonly id: MemoryId
  readonly about: string
  readonly state: MemoryState
  readonly links?: readonly MemoryLink[]
  /** When it stops being true: at its own end, or when another item replaced it. */
  readonly ends?: number | undefined
  /** Milliseconds from the last time it was remembered until it expires. */
  readonly ttl?: number
  /** Store time from which it counts as absent. */
  readonly expires?: number
  /** When it was first remembered. */
  readonly at: number
  /** When it was last remembered or changed. */
  readonly refreshedAt: number
  /** How often it was remembered. */
  readonly times: number
  /** Scope and source session or file: items of one thread are neighbours, in the order in which they were remembered. */
  readonly thread?: string
  /** Bytes of text, for the limits on bytes of a scope. */
  readonly bytes: number
  /** SHA-256 of scope and text. Identical text in one scope is one item. A `digest` beside `bytes` would look like the reference of a blob. */
  readonly textDigest?: string
}

/** One named block of core memory. */
export interface CoreRow {
  readonly id: Id<'core'>
  /** `session/<id>` or `user/<name>`. */
  readonly owner: string
  readonly session?: SessionId
  readonly name: string
  /** Absent when the payload was erased. */
  readonly text?: string
  /** The most characters that the block may have. */
  readonly limit: number
  /** Counts the changes of the block. */
  readonly version: number
  readonly changedAt: number
}
