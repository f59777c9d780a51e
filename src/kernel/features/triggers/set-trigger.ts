// Changes a trigger in one commit with its source, so that no firing misses the change.

import { checkEnvironment } from '../../../model/artifact.ts'
import { utf8Length } from '../../../model/bytes.ts'
import { isObject, takeCondition } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { TriggerDefinition, TriggerRow } from '../../../model/trigger.ts'
import { environmentGuards, namingEnvironment, unknownEnvironment } from '../../content/environment-guard.ts'
import { takeName } from '../../naming/names.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { admit, telling } from '../../writing/draft.ts'
import { type Part, part, plan, readRow } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { type OfferOptions, takeOffer, takeQueue } from '../work/offer.ts'
import { sourceId, triggerId } from './ids.ts'
import { checkMatch } from './match.ts'
import { type SourceCommand, source as sourceDecider } from './source-decider.ts'
import { isSame, isThere, type TriggerCommand, trigger } from './trigger-decider.ts'

export interface ExpectOptions {
  /** The revision that the caller knows. Another revision is refused with TRIGGER_CHANGED. 0 means that the trigger must not exist. */
  readonly expect?: number
}

export interface TriggerOptions extends ExpectOptions, Pick<OfferOptions, 'priority' | 'group' | 'attempts' | 'backoff' | 'delay'> {
  readonly source: string
  /** The queue that gets an item for every matching firing. */
  readonly queue: string
  /** The payloads that match. The default is every firing of the source. */
  readonly match?: object
  /** A value that every item carries as `with`. */
  readonly with?: unknown
  /** The environment that the items are for, as `artifacts.putEnvironment` named it. Every item carries it. */
  readonly env?: string
}

const OPTIONS = ['source', 'queue', 'match', 'with', 'env', 'priority', 'group', 'attempts', 'backoff', 'delay']

/** Registers a trigger under its name, or changes it. Setting the same again changes nothing. */
export async function setTrigger(scope: Scope, given: string, options: TriggerOptions): Promise<TriggerRow> {
  checkOpen(scope.engine)
  const name = takeName(scope, given, 'a trigger')
  const { expect: expected, ...asked } = optionsOf(options, 'trigger')
  const definition = takeDefinition(scope, name, asked)
  const expect = takeExpected(expected)
  const set = (row: TriggerRow | undefined): TriggerCommand | undefined =>
    isThere(row) && isSame(row, definition) ? undefined : { verb: 'set', definition, ...(expect !== undefined && { expect }) }
  return change(scope, name, set, definition.env)
}

export async function turnTrigger(
  scope: Scope,
  verb: 'disable' | 'enable' | 'delete',
  given: string,
  options: ExpectOptions | undefined,
): Promise<TriggerRow> {
  checkOpen(scope.engine)
  const name = takeName(scope, given, 'a trigger')
  const { expect: expected, ...unknown } = optionsOf(options, verb)
  checkKnown(unknown, verb)
  const expect = takeExpected(expected)
  const asked = { disable: 'disabled', enable: 'enabled', delete: 'deleted' }[verb]
  return change(scope, name, (row) =>
    isThere(row) && row.state === asked ? undefined : { verb, name, ...(expect !== undefined && { expect }) },
  )
}

function takeDefinition(scope: Scope, name: string, options: Omit<TriggerOptions, 'expect'>): TriggerDefinition {
  // A misspelt `match` would otherwise match every firing.
  const unknown = Object.keys(options).find((option) => !OPTIONS.includes(option))
  if (unknown !== undefined)
    throw refuse('OPTION_INVALID', { option: unknown, why: 'a trigger has no such option', known: OPTIONS.join(', ') })
  const { match, with: along, env, priority, group, attempts, backoff, delay } = options
  const source = takeName(scope, options.source, 'a source')
  const queue = takeQueue(scope, options.queue)
  const given = Object.entries({ priority, group, attempts, backoff, delay }).filter(([, value]) => value !== undefined)
  const offer = takeOffer(scope, queue, Object.fromEntries(given) as OfferOptions)
  const agreed =
    match === undefined
      ? undefined
      : admit(
          scope,
          telling(scope, () => takeCondition(match)),
        )
  if (agreed !== undefined && !isObject(agreed)) throw refuse('TRIGGER_INVALID', { why: 'match must be an object' })
  if (agreed !== undefined) telling(scope, () => checkMatch(agreed))
  const definition: TriggerDefinition = {
    name,
    source,
    queue,
    offer,
    ...(agreed !== undefined && { match: agreed }),
    ...(along !== undefined && { with: admit(scope, along) }),
    ...(env !== undefined && { env: telling(scope, () => checkEnvironment(env)) }),
  }
  const bytes = utf8Length(JSON.stringify(definition))
  if (bytes > limits.triggerBytes)
    throw refuse('TRIGGER_INVALID', { why: `its definition has ${bytes} bytes; the limit is ${limits.triggerBytes}` })
  return definition
}

function takeExpected(expect: unknown): number | undefined {
  if (expect !== undefined && (typeof expect !== 'number' || !Number.isSafeInteger(expect) || expect < 0))
    throw invalidOption('expect', 'a revision (an integer ≥ 0)', expect)
  return expect
}

/** Changes the trigger as it was read, or reads it again. */
async function change(
  scope: Scope,
  name: string,
  ask: (row: TriggerRow | undefined) => TriggerCommand | undefined,
  env?: string,
): Promise<TriggerRow> {
  const id = triggerId(scope, name)
  return retryConflicts(scope, ['triggers'], async () => {
    const [seen, present] = await Promise.all([readRow(scope, 'triggers', id), environmentGuards(scope, env)])
    const command = ask(seen.body)
    if (!command) return seen.body as TriggerRow
    if (!present) throw unknownEnvironment(scope, env)
    const guards = [{ kind: 'row', table: 'triggers', id, revision: seen.revision } as const, ...present]
    const own = part(trigger, id, command, { seen })
    const { rows } = await plan(scope, [own, ...sourceParts(scope, seen.body, command)], { guards }).catch((error) => {
      throw namingEnvironment(scope, env, error)
    })
    return rows[0].body as TriggerRow
  })
}

/** Changes the source that the trigger leaves and the source that it joins, or the one that it stays with. */
function sourceParts(scope: Scope, row: TriggerRow | undefined, command: TriggerCommand): readonly Part[] {
  const before = isThere(row) ? row.source : undefined
  const after = command.verb === 'set' ? command.definition.source : command.verb === 'delete' ? undefined : before
  const moves: readonly (readonly [string | undefined, SourceCommand['by']])[] =
    before === after
      ? [[before, 0]]
      : [
          [before, -1],
          [after, 1],
        ]
  return moves.flatMap(([source, by]) =>
    source === undefined ? [] : [part(sourceDecider, sourceId(scope, source), { verb: 'change', source, by })],
  )
}
