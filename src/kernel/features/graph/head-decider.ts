// The head of a session: its config, its frames, and where its graph stands. Only a change of the graph or of the checkpoint moves it.

import { canonical } from '../../../model/canonical.ts'
import type { Frame, HeadRow, SessionConfig, TextOrigins } from '../../../model/graph.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { RECORD_SCHEMA } from '../../../model/record-version.ts'
import { decider, type Fact, fact, type Happened, type HappenedWith } from '../../writing/decider.ts'

/** The members that a move sets. An absent member stays, and null clears it. */
export interface HeadMove {
  /** The revision after the move. */
  readonly revision: number
  readonly turns: number
  readonly nodes: number
  readonly messages: number
  readonly leaf?: string | null | undefined
  readonly checkpoint?: NonNullable<HeadRow['checkpoint']> | null | undefined
  readonly turn?: string | undefined
  readonly first?: string | undefined
  readonly preview?: string | undefined
  readonly intent?: string | undefined
  readonly of?: TextOrigins | undefined
}

/** Texts of messages, for lists. They stand in events of their own, so that they can be erased with the message. */
export type HeadTexts = Pick<HeadRow, 'first' | 'preview' | 'intent' | 'of'>

export interface ConfigChange {
  readonly set: SessionConfig
  readonly clear: readonly string[]
}

export type HeadCommand =
  | { readonly verb: 'configure'; readonly change: ConfigChange }
  | { readonly verb: 'open'; readonly frame: Omit<Frame, 'openedAt'> }
  | { readonly verb: 'use'; readonly frame: string | null }
  | { readonly verb: 'move'; readonly to: HeadMove }
  | { readonly verb: 'describe'; readonly texts: HeadTexts }
  /** The head of a fork begins as a copy. */
  | { readonly verb: 'copy'; readonly from: Partial<HeadRow> }
  | { readonly verb: 'forget' }

const schema = RECORD_SCHEMA

export const head = decider<HeadRow, HeadCommand>({
  table: 'session_heads',
  // Ids, numbers and refs stay, so that the graph can still be read when a text about it was erased.
  keeps: ({ schema: version, revision, turns, nodes, messages, leaf, frame, checkpoint, turn }) => ({
    schema: version,
    revision,
    turns,
    nodes,
    messages,
    leaf,
    frame,
    checkpoint,
    turn,
  }),

  decide: {
    configure: (row, { change }) =>
      canonical(configured(row?.config ?? {}, change)) === canonical(row?.config ?? {})
        ? []
        : [fact('head.configured', { schema, ...change })],
    open: (row, { frame }) =>
      row?.frames.some(({ id }) => id === frame.id)
        ? row.frame === frame.id
          ? []
          : [fact('head.framed', { schema, frame: frame.id })]
        : [fact('head.framed', { schema, frame: frame.id, opened: frame })],
    use: (row, { frame }) => ((row?.frame ?? null) === frame ? [] : [fact('head.framed', { schema, frame })]),
    move: (_, { to: { first, preview, intent, of, ...to } }) => [
      fact('head.moved', { schema, ...to }),
      ...described({ first, preview, intent, of }),
    ],
    describe: (_, { texts }) => described(texts),
    copy: (row, { from: { first, preview, intent, of, ...from } }) =>
      row ? [] : [fact('head.copied', { ...from }), ...described({ first, preview, intent, of })],
    forget: (row) => (row ? [fact('head.forgotten', {})] : []),
  },

  evolve: {
    'head.configured': (row, e: HappenedWith<ConfigChange & { readonly schema: number }>) => {
      const before = begun(row, e)
      return e.data ? { ...before, schema: e.data.schema, config: configured(before.config, e.data), changedAt: e.at } : before
    },
    'head.framed': (row, e: HappenedWith<{ readonly frame: string | null; readonly opened?: Frame; readonly schema: number }>) => {
      const before = begun(row, e)
      if (!e.data) return before
      const { frame, opened, schema: version } = e.data
      const frames = opened ? [...before.frames, { ...opened, openedAt: e.at }] : before.frames
      return { ...before, schema: version, frames, frame: frame ?? undefined, changedAt: e.at }
    },
    'head.moved': (row, e: HappenedWith<HeadMove & { readonly schema: number }>) => {
      const before = begun(row, e)
      if (!e.data) return before
      const { leaf, checkpoint, ...set } = e.data
      return {
        ...before,
        ...set,
        ...(leaf !== undefined && { leaf: leaf ?? undefined }),
        ...(checkpoint !== undefined && { checkpoint: checkpoint ?? undefined }),
        changedAt: e.at,
      }
    },
    'head.described': (row, e: HappenedWith<HeadTexts & { readonly schema: number }>) => {
      const before = begun(row, e)
      if (!e.data) return before
      const { of = {}, ...texts } = e.data
      // A text that is replaced has another origin, or none.
      const kept = Object.entries(before.of ?? {}).filter(([name]) => !Object.hasOwn(texts, name))
      const origins = { ...Object.fromEntries(kept), ...of }
      return { ...before, ...texts, of: Object.keys(origins).length === 0 ? undefined : origins }
    },
    'head.copied': (_, e) => ({ ...begun(undefined, e), ...(e.data as Partial<HeadRow> | undefined), ...own(e) }),
    'head.forgotten': () => undefined,
  },
})

const own = (e: Happened) => ({ id: e.subject as Id<'head'>, session: e.session as SessionId })

/** A head before its first change. */
const begun = (row: HeadRow | undefined, e: Happened): HeadRow => row ?? { ...EMPTY, ...own(e), changedAt: e.at }

/** The head of a session that has none yet. */
export const EMPTY: Omit<HeadRow, 'id' | 'session' | 'changedAt'> = {
  schema,
  revision: 0,
  config: {},
  frames: [],
  turns: 0,
  nodes: 0,
  messages: 0,
}

function described({ of = {}, ...texts }: HeadTexts): readonly Fact[] {
  const told = Object.entries(texts).filter(([, text]) => text !== undefined)
  const from = Object.entries(of).filter(([name, message]) => message !== undefined && told.some(([text]) => text === name))
  const origins = from.length > 0 && { of: Object.fromEntries(from) }
  return told.length === 0 ? [] : [fact('head.described', { schema, ...Object.fromEntries(told), ...origins })]
}

function configured(before: SessionConfig, { set, clear }: ConfigChange): SessionConfig {
  const kept = Object.entries(before).filter(([name]) => !clear.includes(name))
  return { ...Object.fromEntries(kept), ...set }
}
