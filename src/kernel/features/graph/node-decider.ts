// A node of the message graph is added, removed (hidden), and forgotten by a vacuum. Replacing a graph may write a node again.

import type { GraphNodeRow, NodeState } from '../../../model/graph.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { RECORD_SCHEMA } from '../../../model/record-version.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type NodeSet = Omit<GraphNodeRow, 'id' | 'session' | 'schema' | 'state' | 'at'> & { readonly at?: number | undefined }

export type NodeCommand =
  | { readonly verb: 'add'; readonly set: NodeSet }
  | { readonly verb: 'remove' }
  /** Only a node that is still in this state. */
  | { readonly verb: 'forget'; readonly state: NodeState }

export const node = decider<GraphNodeRow, NodeCommand>({
  table: 'graph_nodes',
  // The tree stays whole when a payload is erased.
  keeps: ({ schema, node: name, parent, frame, cause, plugin, turn, at }) => ({
    schema,
    node: name,
    parent,
    frame,
    cause,
    plugin,
    turn,
    at,
  }),

  decide: {
    add: (_, { set }) => [fact('graph.added', { schema: RECORD_SCHEMA, ...set })],
    remove: (row) => (row?.state === 'live' ? [fact('graph.removed', {})] : []),
    forget: (row, { state }) => (row?.state === state ? [fact('graph.forgotten', {})] : []),
  },

  evolve: {
    'graph.added': (_, e: HappenedWith<Partial<GraphNodeRow>>) => ({
      schema: RECORD_SCHEMA,
      node: '',
      at: e.at,
      ...e.data,
      id: e.subject as Id<'node'>,
      session: e.session as SessionId,
      state: 'live',
    }),
    'graph.removed': (row) => row && { ...row, state: 'removed' },
    'graph.forgotten': () => undefined,
  },
})
