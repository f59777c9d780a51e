// The types of this feature that users see.

export type { Cause, CauseKind } from '../../../model/cause.ts'
export type { Frame, SessionConfig } from '../../../model/graph.ts'
export type { ConfigOptions } from './config.ts'
export type { OpenFrameOptions, SessionFrames } from './frames.ts'
export type { ConfigureOptions, SessionHead } from './head.ts'
export type { GraphNode, NodeList } from './nodes.ts'
export type { PathOptions, WindowOptions } from './path.ts'
export type { ChildrenOptions, ListNodesOptions, SessionGraph } from './read-graph.ts'
export type { RemovedNodes, VacuumOptions, VacuumReport } from './remove-nodes.ts'
