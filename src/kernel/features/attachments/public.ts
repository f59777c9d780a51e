// The types of this feature that users see.

export type { AttachmentState } from '../../../model/attachment.ts'
export type { Attachment } from './attachment.ts'
export type { SessionAttachments } from './attachments.ts'
export type { PutAttachmentOptions } from './put-attachment.ts'
export type { SweepOptions, SweepReport } from './sweep.ts'
export type { UncommittedAttachment, UncommittedOptions } from './uncommitted.ts'
