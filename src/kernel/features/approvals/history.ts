// The history of one approval from the journal: asked, delivered, seen, decided.

import type { ApprovalId, ApprovalRow, ApprovalState, PermitId } from '../../../model/approval.ts'
import { refuse } from '../../../model/errors.ts'
import { toId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { readEvents } from '../../reading/read-events.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { part, plan } from '../../writing/execute.ts'
import { type ApprovalCommand, approval } from './approval-decider.ts'
import { readApproval } from './approvals.ts'
import { takeBy } from './asking.ts'
import { aboutOf } from './clock.ts'

export interface HistoryEntry {
  readonly what: 'asked' | 'delivered' | 'seen' | 'decided' | 'expired' | 'withdrawn'
  readonly at: number
  readonly seq: number
  /** The actor on whose behalf the store wrote the event. */
  readonly actor?: string
  /** The actor who saw, decided or withdrew it. */
  readonly by?: string
  readonly channel?: string
  readonly ref?: string
  /** The decision. */
  readonly state?: ApprovalState
  readonly note?: string
  /** The permit that decided it, or that it gave. */
  readonly permit?: PermitId
  readonly grants?: PermitId
  /** The payload of the event was erased. */
  readonly erased?: true
}

const WHAT: Readonly<Record<string, HistoryEntry['what']>> = {
  'approval.requested': 'asked',
  'approval.delivered': 'delivered',
  'approval.seen': 'seen',
  'approval.decided': 'decided',
  'approval.expired': 'expired',
  'approval.withdrawn': 'withdrawn',
}

const TOLD = ['by', 'channel', 'ref', 'state', 'note', 'permit', 'grants'] as const

/** Returns the history, oldest first. */
export async function* historyOf(
  scope: Scope,
  given: string,
  options?: { readonly signal?: AbortSignal },
): AsyncGenerator<HistoryEntry, void, undefined> {
  const { signal, ...unknown } = optionsOf(options, 'approvals.history')
  checkKnown(unknown, 'approvals.history')
  stopIfAsked(scope, signal)
  const { id } = await thatApproval(scope, given)
  for await (const { type, at, seq, actor, data, erased } of readEvents(scope, {
    subject: id,
    types: Object.keys(WHAT),
    ...(signal && { signal }),
  })) {
    const what = WHAT[type] as HistoryEntry['what']
    const said = (data ?? {}) as Partial<Record<(typeof TOLD)[number], unknown>>
    yield {
      what,
      at,
      seq,
      ...(actor !== undefined && { actor }),
      ...(what !== 'asked' && Object.fromEntries(TOLD.filter((name) => said[name] !== undefined).map((name) => [name, said[name]]))),
      ...(erased && { erased }),
    }
  }
}

/** Records that a person looked at it. Looking twice counts once. */
export async function seenApproval(scope: Scope, given: string, options: { readonly by: string }): Promise<ApprovalRow> {
  checkOpen(scope.engine)
  const { by: who, ...unknown } = optionsOf(options, 'seen')
  checkKnown(unknown, 'a look')
  const by = takeBy(scope, who)
  if (by === undefined) throw invalidOption('by', 'the id of the viewer', by)
  return note(scope, given, (id) => ({ verb: 'see', id, tenant: scope.tenant, by }))
}

export interface DeliveredOptions {
  /** The channel, such as `slack` or `mail`. */
  readonly channel: string
  /** The id of the message in the channel. */
  readonly ref?: string
}

/** Records that the question was handed to a channel. The same reference twice is one delivery. */
export async function deliveredApproval(scope: Scope, given: string, options: DeliveredOptions): Promise<ApprovalRow> {
  checkOpen(scope.engine)
  const { channel, ref, ...unknown } = optionsOf(options, 'delivered')
  checkKnown(unknown, 'a delivery')
  const taken = { channel: takeText(scope, channel, 'channel'), ...(ref !== undefined && { ref: takeText(scope, ref, 'ref') }) }
  return note(scope, given, (id) => ({ verb: 'deliver', id, tenant: scope.tenant, ...taken }))
}

// The text as it is stored, so that a repetition is recognised.
function takeText(scope: Scope, text: unknown, option: string): string {
  if (typeof text !== 'string' || text === '' || text.length > limits.runNameChars || !text.isWellFormed())
    throw invalidOption(option, `a text of 1 to ${limits.runNameChars} characters`)
  return scope.engine.redactor?.text(text) ?? text
}

async function note(scope: Scope, given: string, command: (id: ApprovalId) => ApprovalCommand): Promise<ApprovalRow> {
  const { id, ...row } = await thatApproval(scope, given)
  const { rows } = await plan(scope, [part(approval, id, command(id), aboutOf(row))])
  return rows[0].body as ApprovalRow
}

async function thatApproval(scope: Scope, given: string): Promise<ApprovalRow> {
  checkOpen(scope.engine)
  const id = telling(scope, () => toId<'approval'>(given))
  const row = await readApproval(scope, id)
  if (!row) throw refuse('APPROVAL_UNKNOWN', { id, tenant: scope.tenant })
  return row
}
