// Lists attachments that no turn has committed: what a sweep of the same age would look at.

import type { AttachmentRow } from '../../../model/attachment.ts'
import { checkKnown, filterOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyRow } from '../../reading/every-row.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Attachment, attachmentOf, toAttachment } from './attachment.ts'

export interface UncommittedOptions {
  /** Only attachments whose intent is older. The default is 0: all of them. */
  readonly olderThan?: Duration
  readonly signal?: AbortSignal
}

/** An attachment with its session. `intended` ones have no bytes yet, and so neither id nor size. */
/** An attachment and its session. Without bytes, as long as it is `intended`, it has neither an id nor a size. */
export type UncommittedAttachment = Partial<Attachment> & Pick<AttachmentRow, 'session' | 'state' | 'at'>

const AT_ONCE = 500

/** Those with bytes come first, each group oldest first. */
export async function* uncommittedAttachments(
  scope: Scope,
  options?: UncommittedOptions,
): AsyncGenerator<UncommittedAttachment, void, undefined> {
  const { olderThan = 0, signal, ...unknown } = filterOf(options, 'attachments.uncommitted')
  checkKnown(unknown, 'a list of attachments')
  const age = milliseconds(olderThan)
  stopIfAsked(scope, signal)
  const below = (await storeNow(scope)) - age + 1
  for (const state of ['stored', 'intended'] as const)
    for await (const stored of everyRow(scope, 'attachments', { index: 'byState', equals: [state], below, limit: AT_ONCE })) {
      const row = attachmentOf(stored)
      const { session, at, label, name } = row
      const named = { ...(label !== undefined && { label }), ...(name !== undefined && { name }) }
      yield { session, ...(state === 'stored' ? toAttachment(row) : { state, at, ...named }) }
      stopIfAsked(scope, signal)
    }
}
