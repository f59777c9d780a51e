// The parameters of commit_v1, each named once with its type. The function declares this list and every call passes its arguments by it, so
// neither can have a parameter that the other lacks.

import type { Value } from './connections.ts'

/** The parameters of events. A statement of the fast path has the same. */
export const EVENT_PARAMETERS = {
  at: 'bigint[]',
  type: 'text[]',
  schema: 'bigint[]',
  class: 'smallint[]',
  actor: 'text[]',
  bytes: 'bytea',
  seldom: 'boolean',
  payloadFrom: 'integer[]',
  payloadSize: 'integer[]',
  payloads: 'bytea',
} as const

export const COMMIT_PARAMETERS = {
  tenant: 'text',
  durable: 'boolean',
  lockMs: 'integer',
  commits: 'integer',
  since: 'bigint',
  sinces: 'bigint[]',
  firsts: 'integer[]',
  events: 'integer',
  eventCommits: 'integer[]',
  ...EVENT_PARAMETERS,
  keyCommits: 'integer[]',
  keys: 'bytea',
  keyBodies: 'bytea',
  guardTables: 'text[]',
  guardIds: 'text[]',
  guardWants: 'bigint[]',
  guardFences: 'boolean[]',
  pairCommits: 'integer[]',
  pairGuards: 'integer[]',
  guardNames: 'text[]',
  removeTables: 'text[]',
  removeIds: 'text[]',
  removeCommits: 'integer[]',
  removeNames: 'text[]',
  putTables: 'text[]',
  putIds: 'text[]',
  putCommits: 'integer[]',
  putBorns: 'integer[]',
  putRevisions: 'integer[]',
  putFences: 'integer[]',
  putColumns: 'text[]',
  putFrom: 'integer[]',
  putSize: 'integer[]',
  putBodies: 'bytea',
  putNames: 'text[]',
  erase: 'bigint[]',
  state: 'text',
  nodeCommits: 'integer[]',
  nodeFrom: 'integer[]',
  nodeSize: 'integer[]',
  nodeRefs: 'bytea',
  nodeBodies: 'bytea',
  refEvents: 'integer[]',
  refNames: 'text[]',
} as const

export type EventParameter = keyof typeof EVENT_PARAMETERS
type CommitParameter = keyof typeof COMMIT_PARAMETERS

export type EventArguments = Readonly<Record<EventParameter, Value>>
export type CommitArguments = Readonly<Record<CommitParameter, Value>>

const eventNames = Object.keys(EVENT_PARAMETERS) as readonly EventParameter[]
const names = Object.keys(COMMIT_PARAMETERS) as readonly CommitParameter[]

const inSql = (name: CommitParameter): string => `p_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`

export const declaredParameters = names.map((name) => `${inSql(name)} ${COMMIT_PARAMETERS[name]}`)

export const commitCall = `select base, hashes, odd, now from inkfast.commit_v1(${names.map((_, i) => `$${i + 1}`).join(', ')})`

/** The values of a call. */
export const commitValues = (given: CommitArguments): readonly Value[] => names.map((name) => given[name])

type EventSql = Readonly<Record<EventParameter, string>>

/** The names by which the function knows the parameters of events. */
export const eventVariables = Object.fromEntries(eventNames.map((name) => [name, inSql(name)])) as EventSql

/** The same as parameters of a statement, beginning with this number. */
export const eventPlaces = (first: number): EventSql =>
  Object.fromEntries(eventNames.map((name, i) => [name, `$${first + i}::${EVENT_PARAMETERS[name]}`])) as EventSql

export const eventValues = (given: EventArguments): readonly Value[] => eventNames.map((name) => given[name])
