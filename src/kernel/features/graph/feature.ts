// The head of a session and its message graph.

import type { GraphNodeRow, HeadRow } from '../../../model/graph.ts'
import { blobsIn } from '../../content/references.ts'
import type { Feature } from '../../feature.ts'
import { headId } from '../../naming/names.ts'
import { found, refuseDeleted } from '../../session/refuse-deleted.ts'
import { part, plan } from '../../writing/execute.ts'
import { manifestRefs } from '../checkpoints/components.ts'
import type { ConfigOptions } from './config.ts'
import { checkGraphs } from './doctor.ts'
import { forkGraph } from './fork-graph.ts'
import { type SessionFrames, sessionFrames } from './frames.ts'
import { type ConfigureOptions, configure, headSummary, readCheckpoint, type SessionHead, showHead } from './head.ts'
import { head } from './head-decider.ts'
import { node } from './node-decider.ts'
import { type SessionGraph, sessionGraph } from './read-graph.ts'
import { forgetNodes } from './remove-nodes.ts'

export interface GraphSession {
  /** Reads the position of the conversation: revision, config, frames, leaf, counts and usage. */
  head(): Promise<SessionHead>
  /** Changes the config. An absent member is kept, null clears it, any other value sets it. */
  configure(config: ConfigOptions, options?: ConfigureOptions): Promise<SessionHead>
  /** Reads the newest checkpoint of the session: its components under their names. */
  checkpoint(): Promise<Record<string, unknown> | undefined>
  readonly frames: SessionFrames
  /** The message graph: a tree of nodes, of which one path is active. */
  readonly graph: SessionGraph
}

export const graph: Feature<object, GraphSession> = {
  name: 'graph',
  deciders: [head, node],
  refs: {
    session_heads: ({ checkpoint }: HeadRow) => manifestRefs(checkpoint),
    graph_nodes: ({ content }: GraphNodeRow) =>
      !content ? [] : 'ref' in content ? [content.ref] : 'text' in content ? blobsIn(content.text) : [],
  },
  onSessionDeleted: async (scope, session) => {
    for (const state of ['live', 'removed'] as const) await forgetNodes(scope, session, state)
    await plan(scope, [part(head, headId(scope, session), { verb: 'forget' }, { session })])
  },
  summary: headSummary,
  onForked: forkGraph,
  doctor: checkGraphs,
  session: ({ scope, id, row }) => ({
    head: () => showHead(scope, id, row()),
    configure: async (config, options) => {
      await configure(scope, id, config, options)
      return showHead(scope, id, row())
    },
    checkpoint: () => found(scope, id, readCheckpoint(scope, id)),
    frames: refuseDeleted(scope, id, sessionFrames(scope, id), { reads: ['list'], writes: ['use'] }),
    graph: refuseDeleted(scope, id, sessionGraph(scope, id), {
      reads: ['list', 'path', 'node', 'children', 'window'],
      writes: ['moveTo', 'remove', 'vacuum'],
    }),
  }),
}
