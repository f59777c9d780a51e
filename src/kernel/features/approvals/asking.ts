// Checks a question: the subject and its exact arguments, who may decide, and the risk.

import { type Asked, askedDigest, RISKS, type Risk } from '../../../model/approval.ts'
import type { Json } from '../../../model/data.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, listOf } from '../../../model/options.ts'
import { takeName } from '../../naming/names.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { Asking } from './approval-decider.ts'

export interface AskOptions {
  /** The kind of the subject, such as `tool` or `payment`. */
  readonly subjectType?: string
  /** The ids of actors who may decide. By default anyone may. */
  readonly deciders?: readonly string[]
  readonly risk?: Risk
}

/** Adds the digest. `data` has been through `admit`. */
export function takeAsking(
  scope: Scope,
  subject: string,
  data: Json | undefined,
  { subjectType, deciders, risk, ...unknown }: AskOptions,
): Pick<Asking, 'subjectType' | 'subject' | 'digest' | 'deciders' | 'risk'> & { readonly digest: string } {
  // A misspelt `deciders` would otherwise let anyone decide.
  checkKnown(unknown, 'a question')
  const named: Asked = {
    subject: takeName(scope, subject, 'the subject of an approval'),
    ...(subjectType !== undefined && { subjectType: takeName(scope, subjectType, 'a subject type') }),
  }
  if (risk !== undefined && !RISKS.includes(risk)) throw invalidOption('risk', `one of ${RISKS.join(', ')}`, risk)
  const people = takeDeciders(scope, deciders)
  return {
    ...named,
    digest: askedDigest(scope.engine.environment.digest.sha256, { ...named, data }),
    ...(people && { deciders: people }),
    ...(risk !== undefined && { risk }),
  }
}

function takeDeciders(scope: Scope, given: readonly string[] | undefined): readonly string[] | undefined {
  const people = listOf(given, 'deciders')
  if (people === undefined) return undefined
  if (people.length === 0 || people.length > limits.approvalDeciders)
    throw invalidOption('deciders', `1 to ${limits.approvalDeciders} deciders`, people.length)
  return [...new Set(people.map((one) => takeBy(scope, one ?? '', 'deciders') as string))]
}

/** The id of the person, as it is stored: secrets are masked. The default is the actor of the store. */
export function takeBy(scope: Scope, by: string | undefined, option = 'by'): string | undefined {
  const who = by === undefined && scope.actor !== '' ? scope.actor : by
  if (who === undefined) return undefined
  if (typeof who !== 'string' || who === '' || who.length > limits.runNameChars || !who.isWellFormed())
    throw invalidOption(option, `an id of 1 to ${limits.runNameChars} characters`)
  return scope.engine.redactor?.text(who) ?? who
}

export function takeNote(note: string | undefined, option = 'note'): string | undefined {
  if (note !== undefined && (typeof note !== 'string' || note.length > limits.reasonChars))
    throw invalidOption(option, `a text of at most ${limits.reasonChars} characters`)
  return note
}
