// An attachment is intended, stored, and committed by a turn; an attachment that no turn used is forgotten.

import type { AttachmentRow } from '../../../model/attachment.ts'
import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { RECORD_SCHEMA } from '../../../model/record-version.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type IntendedSet = Pick<AttachmentRow, 'mediaType' | 'label' | 'name' | 'at'>
export type StoredSet = Pick<AttachmentRow, 'content' | 'size' | 'mediaType' | 'verified' | 'width' | 'height'>

export type AttachmentCommand =
  | { readonly verb: 'intend'; readonly set: IntendedSet }
  | { readonly verb: 'store'; readonly set: StoredSet }
  /** The bytes were put again: a sweep counts from now on. */
  | { readonly verb: 'renew'; readonly session: SessionId; readonly content: string; readonly at: number }
  | { readonly verb: 'commit'; readonly session: SessionId; readonly content: string; readonly turn?: string | undefined }
  /** The attachment of a fork begins as a copy. */
  | { readonly verb: 'copy'; readonly from: Partial<AttachmentRow> }
  /** With `orphan`, only if no turn has committed it. */
  | { readonly verb: 'forget'; readonly orphan?: boolean }

const schema = RECORD_SCHEMA

export const attachment = decider<AttachmentRow, AttachmentCommand>({
  table: 'attachments',
  // The label and the file name go; the bytes are a blob of their own.
  keeps: ({ id: _, session: __, label: ___, name: ____, ...kept }) => kept,

  decide: {
    intend: (_, { set }) => [fact('attachment.intended', { schema, ...set })],
    store: (row, { set }) => (row?.state === 'intended' ? [fact('attachment.stored', { ...set })] : []),
    renew: (row, { session, content, at }) => {
      if (!row || row.state === 'intended') throw refuse('ATTACHMENT_UNKNOWN', { session, attachment: content })
      return row.state === 'stored' && row.at < at ? [fact('attachment.renewed', { at })] : []
    },
    // The first stamp is kept.
    commit: (row, { session, content, turn }) => {
      if (!row || row.state === 'intended') throw refuse('ATTACHMENT_UNKNOWN', { session, attachment: content })
      return row.state === 'stored' ? [fact('attachment.committed', { ...(turn !== undefined && { turn }) })] : []
    },
    copy: (row, { from }) => (row ? [] : [fact('attachment.copied', { ...from })]),
    forget: (row, { orphan = false }) => (row && !(orphan && row.state === 'committed') ? [fact('attachment.forgotten', {})] : []),
  },

  evolve: {
    'attachment.intended': (_, e: HappenedWith<IntendedSet>) => ({ schema, at: e.at, ...e.data, ...own(e), state: 'intended' }),
    'attachment.stored': (row, e: HappenedWith<StoredSet>) => row && { ...row, ...e.data, state: 'stored' },
    'attachment.renewed': (row, e: HappenedWith<{ readonly at: number }>) => row && { ...row, ...e.data },
    'attachment.committed': (row, e: HappenedWith<{ readonly turn?: string }>) =>
      row && { ...row, ...e.data, state: 'committed', committedAt: e.at },
    'attachment.copied': (_, e: HappenedWith<Partial<AttachmentRow>>) => ({ schema, at: e.at, state: 'committed', ...e.data, ...own(e) }),
    'attachment.forgotten': () => undefined,
  },
})

const own = (e: { readonly subject?: string | undefined; readonly session?: string | undefined }) => ({
  id: e.subject as Id<'attachment'>,
  session: e.session as SessionId,
})
