// Attachments: files of a conversation, recorded before their bytes and committed by a turn.

import type { AttachmentRow } from '../../../model/attachment.ts'
import type { Id } from '../../../model/ids.ts'
import type { Feature } from '../../feature.ts'
import { everyPage } from '../../reading/every-row.ts'
import { refuseDeleted } from '../../session/refuse-deleted.ts'
import { part, plan } from '../../writing/execute.ts'
import { attachment } from './attachment-decider.ts'
import { type SessionAttachments, sessionAttachments } from './attachments.ts'
import { forkAttachments } from './fork-attachments.ts'
import { type SweepOptions, type SweepReport, sweepAttachments } from './sweep.ts'
import { type UncommittedAttachment, type UncommittedOptions, uncommittedAttachments } from './uncommitted.ts'

export interface AttachmentStore {
  readonly attachments: {
    /** Removes attachments that no turn has committed and that are old enough, in all sessions and tenants of this view. */
    sweep(options?: SweepOptions): Promise<SweepReport>
    /** Lists attachments of this tenant that no turn has committed: those with bytes first, each group oldest first. */
    uncommitted(options?: UncommittedOptions): AsyncGenerator<UncommittedAttachment, void, undefined>
  }
}

export interface AttachmentSession {
  readonly attachments: SessionAttachments
}

const AT_ONCE = 500

export const attachments: Feature<AttachmentStore, AttachmentSession> = {
  name: 'attachments',
  deciders: [attachment],
  refs: { attachments: ({ content }: AttachmentRow) => (content === undefined ? [] : [`blob:${content}`]) },
  onForked: forkAttachments,
  onSessionDeleted: async (scope, session) => {
    for await (const rows of everyPage(scope, 'attachments', { index: 'bySession', equals: [session], limit: AT_ONCE }))
      if (rows.length > 0)
        await plan(
          scope,
          rows.map(({ id }) => part(attachment, id as Id, { verb: 'forget' }, { session })),
        )
  },
  store: (scope, only) => ({
    attachments: {
      sweep: (options) => sweepAttachments(scope, only, options),
      uncommitted: (options) => uncommittedAttachments(scope, options),
    },
  }),
  session: ({ scope, id }) => ({
    attachments: refuseDeleted(scope, id, sessionAttachments(scope, id), {
      reads: ['get', 'stat', 'stream', 'list'],
      writes: ['commit', 'forget'],
    }),
  }),
}
