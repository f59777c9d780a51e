// Reads and changes the head of a session.

import type { CheckpointManifest } from '../../../model/checkpoint.ts'
import { refuse } from '../../../model/errors.ts'
import type { Frame, HeadRow, SessionConfig } from '../../../model/graph.ts'
import type { SessionId } from '../../../model/ids.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { checkRecord } from '../../../model/record-version.ts'
import { type SessionRelation, type SessionRow, type SessionSummary, type TitleSource, titleSourceOf } from '../../../model/session.ts'
import { headId } from '../../naming/names.ts'
import { readSessionRow } from '../../session/session-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { type DoneRow, part, plan, readRow } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { readComponents } from '../checkpoints/components.ts'
import { sessionLedger, type UsageSum } from '../usage/report.ts'
import { type ConfigOptions, takeConfig } from './config.ts'
import { EMPTY, head } from './head-decider.ts'

/** The position of a conversation: its revision, config, frames, leaf, counts and usage. */
export interface SessionHead {
  readonly schema: number
  readonly session: SessionId
  /** 0 at first; grows by one with every turn and every other change of the graph. Pass it as `expectedHead`. */
  readonly revision: number
  readonly config: SessionConfig
  readonly title?: { readonly text: string; readonly source: TitleSource; readonly locked: boolean }
  readonly relation?: SessionRelation
  readonly frames: readonly Frame[]
  /** The id of the current frame. */
  readonly frame?: string
  /** The id of the newest node of the active path. */
  readonly leaf?: string
  /** Number of nodes in the graph. */
  readonly nodes: number
  readonly messages: number
  readonly turns: number
  /** The id of the last turn. */
  readonly turn?: string
  readonly checkpoint?: CheckpointManifest
  readonly firstMessage?: string
  readonly preview?: string
  readonly intent?: string
  /** The token ledger of the session: sums by source and model, in the order of first use. */
  readonly usage: readonly UsageSum[]
}

export interface ConfigureOptions {
  /** Refused with TURN_HEAD_MOVED if the head has another revision. */
  readonly expectedHead?: number
}

/** The head as it is stored, or an empty one. */
export type FoundHead = DoneRow<HeadRow> & { readonly head: Omit<HeadRow, 'id' | 'changedAt'> & { readonly changedAt?: number } }

export async function readHead(scope: Scope, session: SessionId): Promise<FoundHead> {
  checkOpen(scope.engine)
  const id = headId(scope, session)
  const found = await readRow(scope, 'session_heads', id)
  if (found.body) checkRecord(found.body, { record: 'head', id: session })
  return { ...found, head: found.body ?? { ...EMPTY, session } }
}

/** The title is read anew: another node may have changed it, or its message was erased. */
export async function showHead(scope: Scope, id: SessionId, known: SessionRow): Promise<SessionHead> {
  const [{ head: row }, usage, { body: session = known }] = await Promise.all([
    readHead(scope, id),
    sessionLedger(scope, id),
    readSessionRow(scope, id),
  ])
  if (session.state === 'deleted') throw refuse('SESSION_DELETED', { session: id })
  const { schema, revision, config, frames, frame, leaf, nodes, messages, turns, turn, checkpoint, first } = row
  const source = titleSourceOf(session)
  const [preview, intent] = [config.preview ?? row.preview, config.intent ?? row.intent]
  return {
    schema,
    session: session.id,
    revision,
    config,
    ...(session.title !== undefined && source && { title: { text: session.title, source, locked: source === 'hand' } }),
    ...(session.relation && { relation: session.relation }),
    frames,
    ...(frame !== undefined && { frame }),
    ...(leaf !== undefined && { leaf }),
    nodes,
    messages,
    turns,
    ...(turn !== undefined && { turn }),
    ...(checkpoint && { checkpoint }),
    ...(first !== undefined && { firstMessage: first }),
    ...(preview !== undefined && { preview }),
    ...(intent !== undefined && { intent }),
    usage: usage.filter((sum) => sum.inputTokens + sum.outputTokens + sum.cacheReadTokens + sum.cacheWriteTokens + sum.costNanoUsd > 0),
  }
}

/** Changes the config. The revision of the head stays: a turn under way is not refused because somebody chose another model. */
export async function configure(scope: Scope, session: SessionId, given: ConfigOptions, options?: ConfigureOptions): Promise<void> {
  checkOpen(scope.engine)
  const change = telling(scope, () => takeConfig(given))
  const { expectedHead, ...unknown } = optionsOf(options, 'configure')
  checkKnown(unknown, 'configure')
  if (expectedHead !== undefined) checkRevision(expectedHead)
  const id = headId(scope, session)
  await retryConflicts(scope, ['session_heads'], async () => {
    const { head: row, ...seen } = await readHead(scope, session)
    checkExpected(session, expectedHead, row.revision)
    await plan(scope, [part(head, id, { verb: 'configure', change }, { session, seen })], { open: session, once: true })
  })
}

export function checkRevision(expectedHead: unknown): asserts expectedHead is number {
  if (!Number.isSafeInteger(expectedHead) || (expectedHead as number) < 0)
    throw invalidOption('expectedHead', 'the revision of the head, which is 0 at first', expectedHead)
}

/** The error contains both revisions. */
export function checkExpected(session: SessionId, expected: number | undefined, found: number): void {
  if (expected !== undefined && expected !== found) throw refuse('TURN_HEAD_MOVED', { session, expected, found })
}

/** The components of the newest checkpoint, under the names that they were given. */
export async function readCheckpoint(scope: Scope, session: SessionId): Promise<Record<string, unknown> | undefined> {
  const { head: row } = await readHead(scope, session)
  return row.checkpoint && readComponents(scope, row.checkpoint)
}

/** Members of the head that a list of sessions shows. */
export async function headSummary(scope: Scope, { id }: SessionRow): Promise<Partial<SessionSummary>> {
  const { body } = await readHead(scope, id)
  if (!body) return {}
  const { turns, nodes, messages, first, changedAt, config } = body
  const [preview, intent] = [config.preview ?? body.preview, config.intent ?? body.intent]
  const { cwd, model } = config
  return {
    ...(cwd !== undefined && { cwd }),
    ...(model !== undefined && { model }),
    counts: { turns, nodes, messages },
    ...(first !== undefined && { firstMessage: first }),
    ...(preview !== undefined && { preview }),
    ...(intent !== undefined && { intent }),
    activeAt: changedAt,
  }
}
