// The head of a session and its message graph. The head says where the conversation stands; the nodes are its messages, as a tree.

import type { Cause } from './cause.ts'
import type { CheckpointManifest } from './checkpoint.ts'
import type { Json } from './data.ts'
import type { Id, SessionId } from './ids.ts'
import type { StateContent } from './state.ts'

/** Settings of a session. An absent member is not set. */
export interface SessionConfig {
  readonly model?: string | undefined
  readonly provider?: string | undefined
  /** The name of a model profile. */
  readonly profile?: string | undefined
  /** How much the model thinks, in the provider's words: `high`, a number of tokens, or true. */
  readonly thinking?: string | number | boolean | undefined
  readonly trace?: string | number | boolean | undefined
  readonly verbose?: string | number | boolean | undefined
  /** The working directory. */
  readonly cwd?: string | undefined
  /** Token configuration, such as the context window and the largest answer. */
  readonly tokens?: { readonly [name: string]: Json } | undefined
  /** A short text for lists. By default it follows the newest message. */
  readonly preview?: string | undefined
  /** The last intent of the user. By default it follows the newest message of the user. */
  readonly intent?: string | undefined
}

/** An agent frame: a stretch of the conversation that belongs to one agent or one task of it. */
export interface Frame {
  readonly id: string
  /** The frame in which it was opened. */
  readonly parent?: string | undefined
  readonly agent?: string | undefined
  readonly reason?: string | undefined
  readonly cause?: Cause | undefined
  readonly openedAt: number
}

/** Counts and texts for lists of sessions. */
export interface HeadSummary {
  readonly turns: number
  /** Nodes that are not removed. */
  readonly nodes: number
  /** Nodes that hold a message of the user or of the assistant. */
  readonly messages: number
  /** The first message of the user, cut. */
  readonly first?: string | undefined
  readonly preview?: string | undefined
  readonly intent?: string | undefined
}

export interface HeadRow extends HeadSummary {
  readonly id: Id<'head'>
  readonly session: SessionId
  readonly schema: number
  /** Grows by one with every change of the graph, its leaf or the checkpoint. */
  readonly revision: number
  readonly config: SessionConfig
  readonly frames: readonly Frame[]
  /** The current frame. */
  readonly frame?: string | undefined
  readonly leaf?: string | undefined
  readonly checkpoint?: CheckpointManifest | undefined
  /** The last turn that was committed. */
  readonly turn?: string | undefined
  readonly of?: TextOrigins | undefined
  readonly changedAt: number
}

/** The messages of threads that the texts of a head come from: these are erased with their message. */
export interface TextOrigins {
  readonly first?: string | undefined
  readonly preview?: string | undefined
  readonly intent?: string | undefined
}

export type NodeState = 'live' | 'removed'

export interface GraphNodeRow {
  readonly id: Id<'node'>
  readonly session: SessionId
  readonly schema: number
  readonly state: NodeState
  /** The id that the caller chose, unique in the session. */
  readonly node: string
  /** Absent for a root. */
  readonly parent?: string | undefined
  readonly frame?: string | undefined
  readonly cause?: Cause | undefined
  /** Set for typed data of a plugin: the name of its type. Other payloads are conversation events. */
  readonly plugin?: string | undefined
  /** The turn that wrote it. */
  readonly turn?: string | undefined
  /** Absent if the payload was erased. */
  readonly content?: StateContent | undefined
  readonly at: number
}

/** The receipt of a turn: a second commit of the same turn finds it. */
export interface TurnRow {
  readonly id: Id<'turn'>
  readonly session: SessionId
  readonly schema: number
  readonly turn: string
  /** Keyed digest of the content, so that it confirms no guess. */
  readonly digest: string
  /** The revision of the head after the turn. */
  readonly revision: number
  readonly leaf?: string | undefined
  readonly nodes: number
  readonly interrupted?: boolean | undefined
  /** Inputs that the turn did not use. */
  readonly deferred?: readonly string[] | undefined
  readonly at: number
}
