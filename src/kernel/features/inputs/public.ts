// The types of this feature that users see.

export type { ClaimId, InboxDelivery, InboxItemClaim, InboxItemId, InboxKind, InboxRow, InboxState } from '../../../model/inbox.ts'
export type { InputBoundary, InputId, InputRow, InputState } from '../../../model/input.ts'
export type { CancelOutcome, CancelWord, InputRef } from './cancel-inputs.ts'
export type { Listing, PruneOptions } from './lists.ts'
export type { WhyNone } from './next-inbox-items.ts'
export type { Input, InputOptions, OfferedInput } from './offer-input.ts'
export type { InboxCancelOutcome, InboxItem, InboxOfferOptions, OfferedInboxItem, SessionInbox } from './session-inbox.ts'
export type { SessionInputs } from './session-inputs.ts'
export type { InboxClaim, InboxOptions, TakenInboxItem } from './take-inbox-items.ts'
export type { TakeInputsOptions, TakenInput } from './take-inputs.ts'
