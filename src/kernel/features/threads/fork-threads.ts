// A fork begins with the threads and messages that its source had at the fork point. Large messages are shared by reference; later changes
// are separate.

import type { SessionId } from '../../../model/ids.ts'
import type { MessageRow, ThreadId, ThreadRow } from '../../../model/thread.ts'
import { parseValueRef } from '../../../model/value.ts'
import { textGuards } from '../../content/blobs.ts'
import { referenceGuards } from '../../content/references.ts'
import type { Fork } from '../../feature.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { forkedRows } from '../../reading/rows-at.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part, plan } from '../../writing/execute.ts'
import { referencesOf } from './content.ts'
import { message } from './message-decider.ts'
import { messageRowId } from './plan-messages.ts'
import { checkMessageRow, checkThreadRow } from './stored-rows.ts'
import { thread } from './thread-decider.ts'
import { mainThreadId } from './thread-memory.ts'

/** The commit of a fork has room for so many messages, beside the parts of other features. */
const AT_ONCE = 1000
const BYTES_AT_ONCE = 4 * 1024 * 1024
const PAGE = 500

/** Messages beyond one commit are written before: they belong to a session that nobody can open until the last commit. */
export async function forkThreads(scope: Scope, fork: Fork): Promise<readonly Part[]> {
  const threads = (await forkedRows(scope, thread, fork)).map(({ row }) => checkThreadRow(row))
  if (threads.length === 0) return []
  const found = (await forkedRows(scope, message, fork)).filter(({ row }) => checkMessageRow(row).content)
  // The order of a thread is the order in which its messages were added.
  const ordered = found.sort((a, b) => (a.born ?? 0) - (b.born ?? 0)).map(({ row }) => row)
  let parts: Part[] = threads.map((row) => copyThread(scope, row, fork.to))
  let bytes = 0
  const copied = new Map<ThreadId, number>()
  for (const row of await withoutCollected(scope, ordered)) {
    const size = row.content && 'text' in row.content ? row.content.text.length : 0
    if (parts.length >= AT_ONCE || bytes + size > BYTES_AT_ONCE) {
      await plan(scope, parts)
      parts = []
      bytes = 0
    }
    const messages = copied.get(row.thread) ?? 0
    copied.set(row.thread, messages + 1)
    parts.push(await copyMessage(scope, row, fork.to, messages))
    bytes += size
  }
  return parts
}

const forkedThreadId = (scope: Scope, { id, main }: Pick<ThreadRow, 'id' | 'main'>, to: SessionId): ThreadId =>
  main ? mainThreadId(scope, to) : derivedId<'thread'>(scope, `thread/${scope.tenant}/${to}/${id}`)

function copyThread(scope: Scope, row: ThreadRow, session: SessionId): Part {
  const { id: _, session: _from, schema: _schema, at: _at, changedAt: _changed, ...kept } = row
  return part(
    thread,
    forkedThreadId(scope, row, session),
    { verb: 'create', set: { ...kept, session } },
    { session, seen: NOT_THERE, whole: true },
  )
}

async function copyMessage(
  scope: Scope,
  { id: _, session: from, schema: _schema, changedAt: _changed, ...row }: MessageRow,
  session: SessionId,
  /** The number of messages before it. */
  messages: number,
): Promise<Part> {
  const main = row.thread === mainThreadId(scope, from)
  const set = { ...row, tally: { messages, at: 0 }, thread: forkedThreadId(scope, { id: row.thread, ...(main && { main }) }, session) }
  const { content } = row
  // A message keeps its text when a blob was collected that it refers to.
  const guards = content && 'text' in content ? await textGuards(scope, content.text) : referenceGuards(referencesOf(row))
  return part(
    message,
    messageRowId(scope, session, row.message),
    { verb: 'put', set },
    {
      session,
      seen: NOT_THERE,
      whole: true,
      guards,
      copied: true,
    },
  )
}

/** Leaves out messages whose value was replaced since and is gone. */
async function withoutCollected(scope: Scope, rows: readonly MessageRow[]): Promise<readonly MessageRow[]> {
  const refOf = ({ content }: MessageRow): string | undefined => (content && 'ref' in content ? content.ref : undefined)
  const refs = [...new Set(rows.flatMap((row) => refOf(row) ?? []))]
  const gone = new Set<string>()
  for (let at = 0; at < refs.length; at += PAGE) {
    const page = refs.slice(at, at + PAGE)
    const nodes = await scope.engine.backend.values.get(scope.tenant, page.map(parseValueRef))
    for (const [i, ref] of page.entries()) if (!nodes[i]) gone.add(ref)
  }
  return rows.filter((row) => !gone.has(refOf(row) ?? ''))
}
