// The types of this feature that users see.

export type { BranchState, SessionRelation, SessionRow, SessionState, SessionSummary, TitleSource } from '../../../model/session.ts'
export type { DeleteReport } from './delete-session.ts'
export type { ListedSession, ListOptions, ListSessions, SessionPage } from './list-sessions.ts'
export type { DescribeOptions, Session } from './session.ts'
export type { RelationOptions, SessionOptions } from './session-options.ts'
