// Declared shapes: a value is checked against its schema where it is given, and what the schema makes of it is stored. A stored value is read
// as it is, because a transform that ran twice would change it again.

import { refuse } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { invalidOption } from '../../model/options.ts'
import type { SchemaResult, SchemaStep, StandardSchemaV1 } from '../../model/standard-schema.ts'
import { telling } from '../writing/draft.ts'
import type { Scope } from './scope.ts'

/** The schema that a caller declares under an option. Some libraries make schemas that are functions. */
export function takeSchema(given: unknown, option: string): StandardSchemaV1 {
  const isThing = (typeof given === 'object' && given !== null) || typeof given === 'function'
  const standard = isThing ? (given as Partial<StandardSchemaV1>)['~standard'] : undefined
  if (standard?.version !== 1 || typeof standard.validate !== 'function')
    throw invalidOption(option, 'a schema with the Standard Schema interface, version 1', given)
  return given as StandardSchemaV1
}

/** Returns what the schema makes of a value; without a schema, the value. `of` names the value in the refusal. */
export async function fitted(scope: Scope, schema: StandardSchemaV1 | undefined, value: unknown, of: string): Promise<unknown> {
  if (!schema) return value
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  const { issues } = result
  return telling(scope, () => {
    throw refuse('SHAPE_INVALID', { of, issues: issues.slice(0, limits.shapeIssues).map(told), found: issues.length })
  })
}

type Issue = NonNullable<SchemaResult<unknown>['issues']>[number]

const told = ({ path = [], message }: Issue) => ({ path: shortened(placeOf(path)), message: shortened(String(message)) })

/** `$.items[0].order`, as other refusals of data name a place. */
const placeOf = (path: readonly SchemaStep[]): string =>
  path.reduce<string>((text, step) => {
    const key = typeof step === 'object' ? step.key : step
    return text + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)
  }, '$')

// A cut in the middle of a surrogate pair would leave invalid text.
const shortened = (text: string): string =>
  text.length <= limits.shapeIssueChars ? text : `${text.slice(0, limits.shapeIssueChars - 1).toWellFormed()}…`
