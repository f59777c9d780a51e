// Inputs and inbox: what people say to a session's turn, and work for its turns that no person typed.

import type { Feature } from '../../feature.ts'
import { refuseDeleted } from '../../session/refuse-deleted.ts'
import { inbox } from './inbox-decider.ts'
import { input } from './input-decider.ts'
import { clearSession } from './lists.ts'
import { type InputOptions, type OfferedInput, offerInput } from './offer-input.ts'
import { type SessionInbox, sessionInbox } from './session-inbox.ts'
import { type SessionInputs, sessionInputs } from './session-inputs.ts'
import { settleParts } from './settle.ts'
import { completeClaim, type InboxClaim, type InboxOptions, releaseClaim, takeInboxItems } from './take-inbox-items.ts'
import { type TakeInputsOptions, type TakenInput, takeInputs } from './take-inputs.ts'

export interface InputSession {
  /** Offers an input to the turn that is running, or to the next one. */
  input(content: unknown, options?: InputOptions): Promise<OfferedInput>
  readonly inputs: SessionInputs
  /** Work for the session's turns that no person typed. */
  readonly inbox: SessionInbox
}

export interface InputRun {
  /** Takes the inputs for this turn that no turn has taken yet. It does not wait. */
  inputs(options?: TakeInputsOptions): Promise<readonly TakenInput[]>
  /** Claims the next items of the session's inbox, or says why there are none. It does not wait. */
  inbox(options: InboxOptions): Promise<InboxClaim>
  /** Completes a claim of inbox items before the run ends. */
  inboxDone(claim: string): Promise<void>
  /** Releases a claim of inbox items before the run ends: they are pending again, in their old places. */
  inboxRelease(claim: string): Promise<void>
}

export const inputs: Feature<object, InputSession, InputRun> = {
  name: 'inputs',
  deciders: [input, inbox],
  refs: 'payloads are JSON or { digest, bytes }',
  onForked: 'what was said to the source is answered there, once',
  onSessionDeleted: clearSession,
  onRunEnds: settleParts,
  session: ({ scope, id }) => ({
    input: (content, options) => offerInput(scope, id, content, options),
    inputs: refuseDeleted(scope, id, sessionInputs(scope, id), { reads: ['list', 'get'] }),
    inbox: refuseDeleted(scope, id, sessionInbox(scope, id), { reads: ['list', 'get'] }),
  }),
  run: { inputs: takeInputs, inbox: takeInboxItems, inboxDone: completeClaim, inboxRelease: releaseClaim },
}
