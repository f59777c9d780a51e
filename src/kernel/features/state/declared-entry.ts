// One entry of state whose shape is declared.

import { checkKnown, optionsOf } from '../../../model/options.ts'
import type { StandardSchemaV1 } from '../../../model/standard-schema.ts'
import { fitted, takeSchema } from '../../wiring/schema.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { ReadValueOptions } from '../values/values.ts'
import type { KeyValueState, StateEntry } from './state.ts'
import type { SetStateOptions } from './take-changes.ts'

export interface StateEntryOptions<S extends StandardSchemaV1> {
  /** The shape of the value. What is there already, or is set by the key alone, is not checked. */
  readonly value: S
}

/** `Given` is what callers set, if the schema makes something else of it. */
export interface DeclaredEntry<T = unknown, Given = T> {
  readonly key: string
  /** Refused with SHAPE_INVALID if the value does not fit. */
  set(value: Given, options?: SetStateOptions): Promise<{ readonly key: string; readonly revision: number }>
  get(options?: ReadValueOptions): Promise<StateEntry<T> | undefined>
  exists(): Promise<boolean>
  /** Says whether there was an entry. */
  delete(options?: Pick<SetStateOptions, 'expect'>): Promise<boolean>
}

export function declaredEntry<T, Given>(
  scope: Scope,
  state: KeyValueState,
  key: string,
  options: StateEntryOptions<StandardSchemaV1>,
): DeclaredEntry<T, Given> {
  const { value: given, ...unknown } = optionsOf(options, 'entry')
  checkKnown(unknown, 'an entry')
  const shape = takeSchema(given, 'value')
  return {
    key,
    set: async (value, options) => state.set(key, await fitted(scope, shape, value, `value of state '${key}'`), options),
    get: (options) => state.get<T>(key, options),
    exists: () => state.exists(key),
    delete: (options) => state.delete(key, options),
  }
}
