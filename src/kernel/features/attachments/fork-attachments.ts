// A fork begins with the attachments that its source had at the fork point. The bytes are shared.

import type { AttachmentRow } from '../../../model/attachment.ts'
import { checkRecord } from '../../../model/record-version.ts'
import type { Fork } from '../../feature.ts'
import { forkedRows } from '../../reading/rows-at.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part, plan } from '../../writing/execute.ts'
import { attachment } from './attachment-decider.ts'

/** The commit of a fork has room for so many, beside the parts of other features. */
const AT_ONCE = 200
const PAGE = 500

/** Attachments that no turn had committed stay with the source. */
export async function forkAttachments(scope: Scope, fork: Fork): Promise<readonly Part[]> {
  const rows = (await forkedRows(scope, attachment, fork))
    .map(({ row }) => checkRecord(row, { record: 'attachment', id: row.content ?? row.id }))
    .filter(({ state }) => state === 'committed')
  const there: AttachmentRow[] = []
  for (let at = 0; at < rows.length; at += PAGE) {
    const page = rows.slice(at, at + PAGE)
    const present = await Promise.all(page.map(({ content }) => content !== undefined && isThere(scope, content)))
    there.push(...page.filter((_, i) => present[i]))
  }
  const parts = there.map((row) => copy(scope, row, fork))
  while (parts.length > AT_ONCE) await plan(scope, parts.splice(0, PAGE))
  return parts
}

const isThere = async ({ engine, tenant }: Scope, digest: string): Promise<boolean> =>
  (await engine.backend.blobs.get(tenant, digest, 0)) !== undefined

function copy(scope: Scope, { id: _, session: __, ...from }: AttachmentRow, { to }: Fork): Part<AttachmentRow> {
  const guards = from.content === undefined ? [] : [{ kind: 'blob', digest: from.content } as const]
  return part(attachment, scope.engine.newId<'attachment'>(), { verb: 'copy', from }, { session: to, seen: NOT_THERE, whole: true, guards })
}
