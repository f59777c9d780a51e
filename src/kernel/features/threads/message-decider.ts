// One message of a thread is added, replaced, streamed, removed from view, and described by a record.

import { canonical } from '../../../model/canonical.ts'
import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { RECORD_SCHEMA } from '../../../model/record-version.ts'
import type { MessageContent, MessageRecord, MessageRow, ThreadId } from '../../../model/thread.ts'
import { decider, type Fact, fact, type HappenedWith } from '../../writing/decider.ts'
import { applySplice, type Splice } from './splice.ts'
import { checkMessageRow } from './stored-rows.ts'

type Definition = Omit<MessageRow, 'id' | 'session' | 'schema' | 'at' | 'changedAt'> & Partial<Pick<MessageRow, 'at'>>

/** The message that a command is about. */
interface Named {
  readonly thread: ThreadId
  readonly message: string
}

export type MessageCommand =
  | { readonly verb: 'put'; readonly set: Definition }
  | ({ readonly verb: 'replace'; readonly content: MessageContent; readonly record?: MessageRecord | undefined } & Named)
  | ({ readonly verb: 'extend'; readonly splice: Splice; readonly record: MessageRecord } & Named)
  | ({ readonly verb: 'remove' } & Named)
  | ({ readonly verb: 'record'; readonly record: MessageRecord } & Named)
  | { readonly verb: 'clear' }

export const message = decider<MessageRow, MessageCommand>({
  table: 'messages',

  decide: {
    put: (row, { set }) => {
      if (!row) return [fact('thread.message.added', { schema: RECORD_SCHEMA, ...set })]
      usable(row, set)
      const { parent, trigger, execution, content, record } = set
      if (parent !== undefined && parent !== row.parent)
        throw refuse('MESSAGE_PARENT_INVALID', { message: set.message, parent, why: 'the parent of a stored message does not change' })
      return replacing(row, {
        ...(content && { content }),
        ...(set.role && set.role !== row.role && { role: set.role }),
        ...(trigger !== undefined && trigger !== row.trigger && { trigger }),
        ...(execution !== undefined && execution !== row.execution && { execution }),
        ...((record || row.record?.interrupted) && { record: complete({ ...row.record, ...record }, record) }),
      })
    },
    replace: (row, { content, record, ...named }) => replacing(usable(row, named), { content, ...(record && { record }) }),
    extend: (row, { splice, record, ...named }) => {
      usable(row, named)
      return [fact('thread.message.streamed', { splice, record })]
    },
    remove: (row, named) => (usable(row, named).hidden ? [] : [fact('thread.message.removed', {})]),
    record: (row, { record, ...named }) => [fact('thread.message.recorded', { record: { ...usable(row, named).record, ...record } })],
    clear: (row) => (row ? [fact('thread.message.cleared', {})] : []),
  },

  evolve: {
    'thread.message.added': (_, e: HappenedWith<Definition>) => ({
      schema: RECORD_SCHEMA,
      thread: '' as ThreadId,
      message: '',
      ...e.data,
      session: e.session as SessionId,
      id: e.subject as Id<'message'>,
      at: e.data?.at ?? e.at,
      changedAt: e.at,
    }),
    // A message that was replaced holds nothing once the new payload is erased: its older content does not come back.
    'thread.message.updated': (row, e: HappenedWith<Partial<Definition>>) => {
      if (!row) return undefined
      const { hidden: _, ...shown } = e.data ? { ...row, ...e.data } : without(row)
      return { ...shown, changedAt: e.at }
    },
    'thread.message.streamed': (row, e: HappenedWith<{ readonly splice: Splice; readonly record: MessageRecord }>) => {
      if (!row?.content || !('text' in row.content) || !e.data) return row && { ...without(row), changedAt: e.at }
      const { splice, record } = e.data
      return { ...row, content: { text: applySplice(row.content.text, splice) }, record, changedAt: e.at }
    },
    'thread.message.removed': (row, e) => row && { ...row, hidden: true, changedAt: e.at },
    'thread.message.recorded': (row, e: HappenedWith<{ readonly record: MessageRecord }>) =>
      row && { ...row, record: e.data?.record ?? {}, changedAt: e.at },
    'thread.message.cleared': () => undefined,
  },

  keeps: ({ schema, thread, message: id, tally, hidden }) => ({
    schema,
    thread,
    message: id,
    ...(tally && { tally }),
    ...(hidden && { hidden }),
  }),
})

function replacing(row: MessageRow, change: Partial<Definition>): readonly Fact[] {
  const same = Object.entries(change).every(([name, value]) => canonical(row[name as keyof Definition] ?? null) === canonical(value))
  return same && !row.hidden ? [] : [fact('thread.message.updated', change)]
}

/** A message that is put whole is no longer interrupted, unless the caller says so. */
function complete({ interrupted: _, ...record }: MessageRecord, given: MessageRecord | undefined): MessageRecord {
  return given?.interrupted === undefined ? record : { ...record, interrupted: given.interrupted }
}

function without({ content: _, record: _record, ...row }: MessageRow): MessageRow {
  return row
}

function usable(row: MessageRow | undefined, { thread, message: id }: Named): MessageRow {
  if (!row) throw refuse('MESSAGE_UNKNOWN', { thread, message: id })
  checkMessageRow(row)
  if (row.thread !== thread) throw refuse('MESSAGE_ELSEWHERE', { thread, message: id, found: row.thread })
  if (!row.content) throw refuse('MESSAGE_ERASED', { message: id })
  return row
}
