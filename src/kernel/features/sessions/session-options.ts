// Options for opening a session.

import { utf8Length } from '../../../model/bytes.ts'
import { takeCause } from '../../../model/cause.ts'
import { isObject, takeData } from '../../../model/data.ts'
import { isActor } from '../../../model/event.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, checkSeq, invalidOption, optionsOf } from '../../../model/options.ts'
import { BRANCH_STATES, type BranchState, type SessionRelation, type SessionRow } from '../../../model/session.ts'
import { sessionToWrite } from '../../session/session-named.ts'
import type { Scope } from '../../wiring/scope.ts'
import { admit } from '../../writing/draft.ts'

export interface SessionOptions {
  readonly title?: string
  /** The owner of the session: an opaque id, to list by. */
  readonly owner?: string
  readonly metadata?: object
  readonly branch?: BranchState
  readonly relation?: RelationOptions
}

/** A relation to another session, by its key or its id. */
export interface RelationOptions extends Omit<SessionRelation, 'session'> {
  readonly session: string
}

export type TakenOptions = Partial<Pick<SessionRow, 'title' | 'owner' | 'metadata' | 'branch' | 'relation'>>

/** Checks the options and returns them as they are stored. */
export async function takeSessionOptions(scope: Scope, options: SessionOptions): Promise<TakenOptions> {
  const { title, owner, metadata, branch, relation, ...unknown } = optionsOf(options, 'session')
  checkKnown(unknown, 'a session')
  if (title !== undefined) checkTitle(title)
  if (owner !== undefined) checkOwnerId(owner)
  if (branch !== undefined && !BRANCH_STATES.includes(branch)) throw invalidOption('branch', "'root', 'branch' or 'source'", branch)
  const set = {
    ...(title !== undefined && { title }),
    ...(owner && { owner }),
    ...(metadata && { metadata: checkMetadata(metadata) }),
    ...(branch && { branch }),
    ...(relation && { relation: await checkRelation(scope, relation) }),
  }
  return admit(scope, set) as TakenOptions
}

/** The owner is not shown in the error: it may be the name of a person. */
export function checkOwnerId(owner: unknown): asserts owner is string {
  if (!isActor(owner)) throw invalidOption('owner', `an opaque id of 1 to ${limits.actorChars} printable ASCII characters without spaces`)
}

export function checkTitle(title: string): string {
  if (typeof title !== 'string' || !title.isWellFormed() || title.length > limits.titleChars)
    throw invalidOption('title', `a text of at most ${limits.titleChars} characters`)
  return title
}

export function checkMetadata(metadata: unknown): NonNullable<SessionRow['metadata']> {
  const taken = typeof metadata === 'object' ? takeData(metadata) : undefined
  if (!isObject(taken) || utf8Length(JSON.stringify(taken)) > limits.metadataBytes) {
    throw invalidOption('metadata', `an object of at most ${limits.metadataBytes} bytes`)
  }
  return taken
}

async function checkRelation(scope: Scope, relation: RelationOptions): Promise<SessionRelation> {
  const { kind, session, at, cause, ...unknown } = optionsOf(relation, 'relation')
  checkKnown(unknown, 'a relation')
  checkRelationKind(kind, 'relation.kind')
  return {
    kind,
    session: await sessionToWrite(scope, session),
    ...(at !== undefined && { at: checkSeq(at) }),
    ...(cause !== undefined && { cause: takeCause(cause, 'relation.cause') }),
  }
}

export function checkRelationKind(kind: unknown, option = 'relation'): void {
  if (typeof kind !== 'string' || kind === '' || kind.length > limits.typeBytes)
    throw invalidOption(option, `a text of 1 to ${limits.typeBytes} characters`)
}
