// Every verb in every state: what is open moves once, what is closed stays as it is, and a note is taken of whoever was told or looked.

import { expect, test } from 'vitest'
import { APPROVAL_STATES, type ApprovalRow, type ApprovalState } from '../../../model/approval.ts'
import { InkError } from '../../../model/errors.ts'
import type { Decision, Fact } from '../../writing/decider.ts'
import { type ApprovalCommand, approval } from './approval-decider.ts'

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV' as ApprovalRow['id']
const [asked, other] = ['a'.repeat(64), 'b'.repeat(64)]
const row = (state: ApprovalState, more: Partial<ApprovalRow> = {}): ApprovalRow => ({
  id: ID,
  kind: 'approval',
  state,
  subject: 'deploy',
  digest: asked,
  askedAt: 1,
  expires: 100,
  ...more,
})

/** The facts, or the code; both where a refusal is written down. */
function outcome(before: ApprovalRow | undefined, command: ApprovalCommand): string {
  try {
    const decided = (approval.decide[command.verb] as (row: unknown, c: ApprovalCommand, now: number) => readonly Fact[] | Decision)(
      before,
      command,
      0,
    )
    const { facts, refusal } = 'facts' in decided ? decided : { facts: decided, refusal: undefined }
    return [...facts.map(({ type }) => type), ...(refusal ? [refusal.code] : [])].join(' + ') || 'nothing'
  } catch (error) {
    return error instanceof InkError ? error.code : String(error)
  }
}

const about = { id: ID, tenant: 'main' }
const decide = (more: object = {}, by?: string): ApprovalCommand => ({
  verb: 'decide',
  ...about,
  now: 99,
  decided: { state: 'approved', by },
  ...more,
})
const commands: Readonly<Record<string, ApprovalCommand>> = {
  request: { verb: 'request', asking: { kind: 'approval', subject: 'deploy' } },
  decide: decide(),
  expire: { verb: 'expire', id: ID },
  withdraw: { verb: 'withdraw' },
  deliver: { verb: 'deliver', ...about, channel: 'mail' },
  see: { verb: 'see', ...about, by: 'user/ada' },
}

test.each(APPROVAL_STATES.filter((state) => state !== 'pending'))('what is %s stays as it is', (state) => {
  const outcomes = Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, outcome(row(state), command)]))
  expect(outcomes).toEqual({
    request: 'nothing',
    decide: 'APPROVAL_CLOSED',
    expire: 'CONFLICT',
    withdraw: 'nothing',
    deliver: 'approval.delivered',
    see: 'approval.seen',
  })
})

test('a pending approval changes its state, and a missing one is reported', () => {
  expect(Object.values(commands).map((command) => outcome(row('pending'), command))).toEqual([
    'nothing',
    'approval.decided',
    'approval.expired',
    'approval.withdrawn',
    'approval.delivered',
    'approval.seen',
  ])
  expect(Object.values(commands).map((command) => outcome(undefined, command))).toEqual([
    'approval.requested',
    'APPROVAL_UNKNOWN',
    'CONFLICT',
    'nothing',
    'APPROVAL_UNKNOWN',
    'APPROVAL_UNKNOWN',
  ])
})

test('a decision is checked in order: decider, digest, expiry, answer', () => {
  const guarded = row('pending', { deciders: ['user/grace'] })
  expect(outcome(guarded, decide({ now: 100 }))).toBe('APPROVAL_FORBIDDEN')
  expect(outcome(guarded, decide({ now: 100 }, 'user/ada'))).toBe('APPROVAL_FORBIDDEN')
  expect(outcome(guarded, decide({ now: 100, digest: other }, 'user/grace'))).toBe('APPROVAL_OTHER')
  expect(outcome(guarded, decide({ now: 100, digest: asked }, 'user/grace'))).toBe('approval.expired + APPROVAL_CLOSED')
  expect(outcome(guarded, decide({ now: 99, digest: asked }, 'user/grace'))).toBe('approval.decided')
  expect(outcome(row('pending', { digest: undefined }), decide())).toBe('APPROVAL_OTHER')
  expect(outcome(row('pending', { digest: undefined }), decide({ decided: { state: 'denied' } }))).toBe('approval.decided')
})
