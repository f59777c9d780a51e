// The filter of approvals that lists and exports share.

import { APPROVAL_STATES, type ApprovalRow, type ApprovalState, RISKS, type Risk } from '../../../model/approval.ts'
import { takeDigest } from '../../../model/blob.ts'
import { refuse } from '../../../model/errors.ts'
import { toId } from '../../../model/ids.ts'
import { invalidOption, quoted } from '../../../model/options.ts'
import { maskKey } from '../../naming/names.ts'
import { checkState } from '../../reading/list-rows.ts'
import { sessionToRead } from '../../session/session-named.ts'
import type { Scope } from '../../wiring/scope.ts'
import { admit, telling } from '../../writing/draft.ts'

export interface ApprovalFilter {
  readonly state?: ApprovalState
  /** Only approvals of the run with this id. */
  readonly run?: string
  /** Only approvals of the session with this key or id. */
  readonly session?: string
  readonly subjectType?: string
  readonly subject?: string
  readonly risk?: Risk
  /** Only the approval with this idempotency key. */
  readonly key?: string
  /** Only approvals of exactly these arguments. */
  readonly digest?: string
  readonly askedBy?: string
  readonly decidedBy?: string
  /** Only approvals asked at this time or later: a `Date` or Unix milliseconds. */
  readonly since?: Date | number
  /** Only approvals asked before this time. */
  readonly until?: Date | number
}

type Name = Exclude<keyof ApprovalFilter, 'since' | 'until'>

/** Ordered by how much they narrow. Everything else is filtered row by row. */
const INDEXES: readonly (readonly [Name, string])[] = [
  ['key', 'byKey'],
  ['digest', 'byDigest'],
  ['run', 'byRun'],
  ['subject', 'bySubject'],
  ['state', 'byState'],
]

/** Separates the members of a filter from other options. */
export function splitFilter<Options extends ApprovalFilter>(
  options: Options,
): { readonly filter: ApprovalFilter; readonly rest: Omit<Options, keyof ApprovalFilter> } {
  const { state, run, session, subjectType, subject, risk, key, digest, askedBy, decidedBy, since, until, ...rest } = options
  const filter = { state, run, session, subjectType, subject, risk, key, digest, askedBy, decidedBy, since, until }
  return { filter: Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)), rest }
}

export interface TakenFilter {
  readonly index: string
  readonly equals: readonly string[]
  /** Absent where the index is enough. */
  readonly matches?: (row: ApprovalRow) => boolean
  /** As the filter was understood, with times in milliseconds; without members that were not given. */
  readonly asked: Readonly<Record<string, string | number>>
}

export async function takeFilter(scope: Scope, filter: ApprovalFilter): Promise<TakenFilter> {
  const { since: from, until: to, session, digest, ...others } = filter
  const about = digest === undefined ? {} : { digest: takeDigest(digest) }
  const names = { ...others, ...about, ...(session !== undefined && { session: await sessionToRead(scope, session) }) }
  checkState(names.state, APPROVAL_STATES, 'approval')
  if (names.risk !== undefined && !RISKS.includes(names.risk))
    throw refuse('RANGE_INVALID', { why: `unknown risk '${quoted(names.risk)}'` })
  if (names.run !== undefined) telling(scope, () => toId(names.run))
  const given = Object.entries(names).filter(([, value]) => value !== undefined) as [Name, string][]
  for (const [name, value] of given) if (typeof value !== 'string') throw invalidOption(name, 'a text', value)
  // Rows hold what masking left of a text, so it is masked here, too.
  const wanted = given.map(([name, value]) => [name, name === 'key' ? maskKey(scope, value) : (admit(scope, value) as string)] as const)
  const [since, until] = [timeOf('since', from), timeOf('until', to)]
  const by = INDEXES.find(([name]) => wanted.some(([one]) => one === name))
  const rest = wanted.filter(([name]) => name !== by?.[0])
  const matches = (row: ApprovalRow): boolean =>
    rest.every(([name, value]) => row[name] === value) && row.askedAt >= (since ?? 0) && row.askedAt < (until ?? Infinity)
  const asked = { ...Object.fromEntries(wanted), ...(since !== undefined && { since }), ...(until !== undefined && { until }) }
  return {
    index: by?.[1] ?? 'byBorn',
    equals: wanted.filter(([name]) => name === by?.[0]).map(([, value]) => value),
    ...((rest.length > 0 || since !== undefined || until !== undefined) && { matches }),
    asked,
  }
}

function timeOf(option: string, at: Date | number | undefined): number | undefined {
  const ms = at instanceof Date ? at.getTime() : at
  if (ms !== undefined && (!Number.isSafeInteger(ms) || ms < 0)) throw invalidOption(option, 'a Date or Unix milliseconds', at)
  return ms
}
