// The types of this feature that users see.

export type {
  EventTypeSpec,
  Evidence,
  ProcessId,
  ProcessRequest,
  ProcessRow,
  ProcessState,
  Provenance,
  Recovery,
  Reference,
  Started,
  TerminalSpec,
  WakeNote,
  WakeSpec,
} from '../../../model/process.ts'
export type { AgentProcess, LeasedProcess } from './agent-process.ts'
export type { DeclaredEvent, ProvenanceOptions, RegisterOptions } from './definition.ts'
export type { CompleteOptions, EndOptions, ProcessResult } from './ending.ts'
export type { EventOptions, ProcessEvent, ProcessEventQuery, ToldEvent } from './events.ts'
export type { GrantListOptions, GrantOptions, ProcessGrant } from './grants.ts'
export type { ProcessListOptions } from './list-processes.ts'
export type { ProcessNode, ProcessNodeStats, ProcessWorkOptions } from './node.ts'
export type { LeavingReport } from './on-session-deleted.ts'
export type { ProcessLeaseOptions } from './process-lease.ts'
export type { PruneReport } from './prune.ts'
export type { ProcessRegistry } from './registry.ts'
export type { ProcessHandler, RunningProcess } from './run-process.ts'
export type { WakeOption } from './wake.ts'
