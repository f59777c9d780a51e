// A program: the name of its runs, its handler and the shape of its input in one value, so that callers and nodes agree on them.

import { refuse } from '../../../model/errors.ts'
import type { Jsonify, Storable } from '../../../model/jsonify.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { SchemaInput, SchemaOutput, StandardSchemaV1 } from '../../../model/standard-schema.ts'
import { checkName, takeName } from '../../naming/names.ts'
import { takeSchema } from '../../wiring/schema.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { Run } from './program/run-calls.ts'

// biome-ignore lint/suspicious/noExplicitAny: a handler says itself what its input is
export type Handler = (run: Run, input: any) => unknown

/** Handlers and programs that `store.work` executes, by the name of their runs. A program keeps its own name. */
export type Handlers = Readonly<Record<string, Handler | Program>>

/** Made by `program()`. `Given` is what callers give, and `Input` what the schema makes of it and the handler gets. */
// biome-ignore lint/suspicious/noExplicitAny: any program, whatever it takes and returns
export interface Program<Input = any, Result = any, Given = any> {
  readonly name: string
  readonly handler: (run: Run, input: Input) => Result | Promise<Result>
  /** The shape of the input. */
  readonly input?: StandardSchemaV1<Given, unknown>
}

export interface ProgramOptions<S extends StandardSchemaV1> {
  /** The shape of the input. Callers who start the program by this value are checked, and the handler gets what the schema makes of the input. */
  readonly input: S
}

/** Input that callers may give to a program; a plain name takes anything. */
export type GivenTo<P extends string | Program> = P extends Program<infer _Input, infer _Result, infer Given> ? Given : unknown

/** The input of a program, as an option. It may be left out where the program takes none. */
export type WithInput<P extends string | Program> =
  undefined extends GivenTo<P> ? { readonly input?: GivenTo<P> } : { readonly input: GivenTo<P> }

/** Options that may be left out where none of them is required. */
export type OptionsFor<O> = Partial<O> extends O ? [options?: O] : [options: O]

/** The input as the program gets it. */
export type InputOf<P extends string | Program> = P extends Program<infer Input> ? Input : unknown

/** The result as callers read it: dates are texts. */
export type ResultOf<P extends string | Program> = P extends Program<infer _Input, infer Result> ? Jsonify<Result> : unknown

/** Links the name of runs with their handler: `store.work([refund])`, `store.start(refund, …)`. */
export function program<Input = undefined, Result = unknown>(
  name: string,
  handler: ((run: Run, input: Input) => Result | Promise<Result>) & Storable<Result>,
): Program<Input, Result, Input>
export function program<S extends StandardSchemaV1, Result = unknown>(
  name: string,
  options: ProgramOptions<S>,
  handler: ((run: Run, input: Jsonify<SchemaOutput<S>>) => Result | Promise<Result>) & Storable<Result>,
): Program<Jsonify<SchemaOutput<S>>, Result, SchemaInput<S>>
export function program(name: string, second: Handler | ProgramOptions<StandardSchemaV1>, third?: Handler): Program {
  const [handler, options] = typeof second === 'function' ? [second] : [third, optionsOf(second, 'program')]
  checkName(name, 'a program')
  if (typeof handler !== 'function') throw invalidOption('handler', 'a function', handler)
  if (!options) return Object.freeze({ name, handler })
  const { input, ...unknown } = options
  checkKnown(unknown, 'a program')
  return Object.freeze({ name, handler, input: takeSchema(input, 'input') })
}

const isProgram = (given: unknown): given is Program =>
  typeof given === 'object' && given !== null && typeof (given as Program).handler === 'function'

export interface TakenProgram {
  /** As it is recorded. */
  readonly name: string
  readonly shape: StandardSchemaV1 | undefined
}

/** The name of runs, and the shape of their input if the caller named them by a program. */
export const takeProgram = (scope: Scope, given: string | Program): TakenProgram =>
  isProgram(given)
    ? { name: takeName(scope, given.name, 'a run'), shape: given.input }
    : { name: takeName(scope, given, 'a run'), shape: undefined }

/** The handlers of a node, by the names of their runs. */
export function takeHandlers(given: Handlers | readonly Program[]): ReadonlyMap<string, Handler> {
  const handlers = new Map<string, Handler>()
  for (const [key, one] of Object.entries(Array.isArray(given) ? given : optionsOf(given as Handlers, 'handlers'))) {
    const named = isProgram(one)
    if (!named && (Array.isArray(given) || typeof one !== 'function'))
      throw invalidOption(`handlers.${key}`, Array.isArray(given) ? 'a program' : 'a function or a program', one)
    const name = named ? one.name : key
    if (!Array.isArray(given) && name !== key)
      throw refuse('OPTION_INVALID', { option: `handlers.${key}`, why: `the program is named '${name}'` })
    if (handlers.has(name)) throw refuse('OPTION_INVALID', { option: `handlers.${key}`, why: `another program is named '${name}' too` })
    handlers.set(name, named ? one.handler : one)
  }
  if (handlers.size === 0) throw invalidOption('handlers', 'at least one program or handler', given)
  return handlers
}
