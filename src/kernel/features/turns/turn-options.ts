// The options of `commitTurn`: checked and copied before anything is read.

import { type Cause, takeCause } from '../../../model/cause.ts'
import { type Json, takeData } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, listOf, optionsOf } from '../../../model/options.ts'
import type { Usage } from '../../../model/usage.ts'
import type { Fenced } from '../../fenced.ts'
import { maskKey, takeName } from '../../naming/names.ts'
import type { Scope } from '../../wiring/scope.ts'
import { admit, isWhole, telling } from '../../writing/draft.ts'
import { takeIds } from '../attachments/attachments.ts'
import type { Components } from '../checkpoints/components.ts'
import type { GivenNode } from '../graph/delta.ts'
import { checkRevision } from '../graph/head.ts'
import { nodeName } from '../graph/nodes.ts'
import { copyMessage } from '../threads/check-message.ts'
import { addUsage, takeUsage, type UsageGiven } from '../usage/ledger.ts'
import { type Enqueued, type EnqueueOptions, takeEnqueued } from './enqueue.ts'

/** A node as a turn adds it. */
export interface NodeOptions {
  /** Unique in the session. */
  readonly id: string
  /** Null for a root. The default is the node before it in `nodes`, and for the first one the leaf of the conversation when the turn is written. */
  readonly parent?: string | null | undefined
  /** A conversation event, or typed data of a plugin. */
  readonly payload: unknown
  /** The type of the plugin data, if the payload is that. */
  readonly plugin?: string
  readonly cause?: Cause
  /** The frame that it belongs to, one that was opened before. The default is the current frame. */
  readonly frame?: string
}

export interface TurnOptions {
  /** The id of the turn. A second commit with the same id and content returns the receipt of the first. */
  readonly turn: string
  /** The revision of the head that the turn began with: 0 at first. Another one is refused with TURN_HEAD_MOVED. */
  readonly expectedHead?: number
  readonly nodes?: readonly NodeOptions[]
  /** `append`, the default, adds the nodes. `replace` makes them the whole graph and hides all others. `unchanged` says that there are none. */
  readonly delta?: 'unchanged' | 'append' | 'replace'
  /** The node where the conversation goes on. The default is the last of `nodes`. */
  readonly leaf?: string
  /** Components under names, as `run.checkpoint` takes them. Null removes the checkpoint. */
  readonly checkpoint?: Components | null
  readonly usage?: UsageGiven | readonly UsageGiven[]
  /** The claims of inbox items that the turn took, by id or as `run.inbox` returned them: they are completed. */
  readonly claims?: readonly (string | { readonly claim?: string | undefined })[]
  /** The inputs that the turn took and used: they are completed. */
  readonly inputs?: readonly (string | { readonly id: string })[]
  /** The turn was interrupted. Inputs that it did not use are deferred to the next turn. */
  readonly interrupted?: boolean
  /** Attachments that the turn uses, by id: they are committed. */
  readonly attachments?: readonly (string | { readonly id: string })[]
  /** Messages to add to the default thread of the session, as `session.thread.add` takes them. */
  readonly messages?: readonly unknown[]
  /** Items to offer to the inbox of the session, or to a queue, in the same commit. */
  readonly enqueue?: readonly EnqueueOptions[]
  /** The commit is refused with FENCE_LOST if its holder has lost it. */
  readonly lease?: Fenced
  /** Releases the lease in the same commit. */
  readonly release?: boolean
  /** `false` stores the payloads without masking secrets. */
  readonly redact?: boolean
}

const DELTAS: readonly unknown[] = ['unchanged', 'append', 'replace']

export interface TakenTurn {
  readonly turn: string
  readonly expectedHead: number | undefined
  readonly nodes: readonly GivenNode[]
  readonly delta: 'unchanged' | 'append' | 'replace'
  readonly leaf: string | undefined
  readonly checkpoint: Components | null | undefined
  readonly usage: readonly Usage[]
  readonly claims: readonly string[] | undefined
  readonly inputs: readonly string[] | undefined
  readonly interrupted: boolean
  readonly attachments: readonly string[]
  readonly messages: readonly unknown[]
  readonly redact: boolean
  readonly enqueue: readonly Enqueued[]
  readonly lease: unknown
  readonly release: boolean
  /** The content as the caller gave it, to compare with a receipt. It excludes the expected head and the lease. */
  readonly content: Readonly<Record<string, unknown>>
}

export function takeTurn(scope: Scope, options: TurnOptions): TakenTurn {
  const {
    turn,
    expectedHead,
    nodes,
    delta,
    leaf,
    checkpoint,
    usage,
    claims,
    inputs,
    interrupted,
    attachments,
    messages,
    enqueue,
    lease,
    release,
    redact,
    ...unknown
  } = optionsOf(options, 'commitTurn')
  checkKnown(unknown, 'a turn')
  const whole = isWhole(redact)
  if (expectedHead !== undefined) checkRevision(expectedHead)
  if (delta !== undefined && !DELTAS.includes(delta)) throw invalidOption('delta', "'unchanged', 'append' or 'replace'", delta)
  const given = listOf(nodes, 'nodes') ?? []
  if (delta === 'unchanged' && given.length > 0) throw invalidOption('nodes', "no nodes with the delta 'unchanged'")
  if (given.length > limits.turnNodes) throw invalidOption('nodes', `at most ${limits.turnNodes} nodes`, given.length)
  for (const [name, flag] of Object.entries({ interrupted, release }))
    if (flag !== undefined && typeof flag !== 'boolean') throw invalidOption(name, 'true or false', flag)
  const taken = given.map((one) => takeNode(scope, one, whole))
  const used = takeUsages(usage)
  const queued = (listOf(enqueue, 'enqueue') ?? []).map((one) => takeEnqueued(scope, one))
  // What `run.inbox` returns has no claim if there was nothing to take.
  const tookSome = listOf(claims, 'claims')?.filter((one) => typeof one !== 'object' || one === null || one.claim !== undefined)
  const held = { claims: idsOf(tookSome, 'claims', 'claim'), inputs: idsOf(inputs, 'inputs', 'id') }
  const files = takeIds(listOf(attachments, 'attachments') ?? [])
  const said = (listOf(messages, 'messages') ?? []).map((one) => copyMessage(scope, one))
  const named = maskKey(scope, turn)
  const content = {
    turn: named,
    nodes: taken.map(({ raw }) => raw),
    // Without nodes, nothing is appended.
    delta: delta === 'replace' ? delta : 'append',
    leaf,
    usage: used,
    ...held,
    interrupted: interrupted ?? false,
    attachments: files,
    enqueue: queued.map(({ raw }) => raw),
    release: release ?? false,
  }
  return {
    turn: named,
    expectedHead,
    nodes: taken.map(({ node }) => node),
    delta: delta === 'replace' ? delta : given.length > 0 ? 'append' : 'unchanged',
    leaf: leaf === undefined ? undefined : nodeName(scope, leaf),
    checkpoint: checkpoint === undefined || checkpoint === null ? checkpoint : { ...optionsOf(checkpoint, 'checkpoint') },
    usage: used,
    ...held,
    interrupted: interrupted ?? false,
    attachments: files,
    messages: said,
    redact: !whole,
    enqueue: queued,
    lease,
    release: release ?? false,
    content,
  }
}

function takeNode(scope: Scope, given: NodeOptions, whole: boolean): { readonly node: GivenNode; readonly raw: Json } {
  const { id, parent, payload, plugin, cause, frame, ...unknown } = optionsOf(given, 'nodes')
  checkKnown(unknown, 'a node')
  const name = nodeName(scope, id)
  if (parent !== undefined && parent !== null && typeof parent !== 'string')
    throw invalidOption('parent', 'the id of a node, or null for a root', parent)
  if (payload === undefined) throw invalidOption('payload', 'JSON', payload)
  const about = {
    ...(plugin !== undefined && { plugin: takeName(scope, plugin, 'a plugin type') }),
    ...(cause !== undefined && {
      cause: admit(
        scope,
        telling(scope, () => takeCause(cause)),
      ) as unknown as Cause,
    }),
    ...(frame !== undefined && { frame: takeName(scope, frame, 'a frame') }),
  }
  const raw = telling(scope, () => takeData(payload))
  // An absent parent is no part of the content: the leaf may have moved when the commit is retried.
  const above = parent === undefined ? {} : { parent: parent === null ? null : nodeName(scope, parent) }
  const node = { id: name, ...above, payload: whole ? raw : admit(scope, raw), ...about }
  return { node, raw: { ...node, payload: raw } as unknown as Json }
}

/** Entries with the same source and model are counted together. */
function takeUsages(given: TurnOptions['usage']): readonly Usage[] {
  const list = given === undefined ? [] : Array.isArray(given) ? (given as readonly UsageGiven[]) : [given as UsageGiven]
  let ledger: readonly Usage[] = []
  for (const one of list) {
    const usage = takeUsage(typeof one === 'object' && one !== null ? { source: 'turn', ...one } : one, { of: 'a turn' })
    const sum = usage ? addUsage(ledger, usage) : ledger
    if (!sum) throw refuse('USAGE_INVALID', { of: 'a turn', why: 'a sum is larger than 2^53 − 1' })
    ledger = sum
  }
  return ledger
}

function idsOf(given: readonly unknown[] | undefined, of: string, member: 'claim' | 'id'): readonly string[] | undefined {
  const ids = listOf(given, of)?.map((one) =>
    typeof one === 'object' && one !== null ? (one as Record<typeof member, unknown>)[member] : one,
  )
  const wrong = ids?.findIndex((id, i) => typeof id !== 'string' || ids.indexOf(id) !== i) ?? -1
  if (wrong >= 0) throw invalidOption(of, 'ids, each once', ids?.[wrong])
  return ids as readonly string[] | undefined
}
