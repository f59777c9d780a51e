// The config of a session, as callers change it: an absent member is kept, null clears it, any other value sets it.

import { utf8Length } from '../../../model/bytes.ts'
import { isObject, takeData } from '../../../model/data.ts'
import type { SessionConfig } from '../../../model/graph.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import type { ConfigChange } from './head-decider.ts'

/** Each member is kept if absent, cleared by null, and set otherwise. */
export type ConfigOptions = { readonly [Name in keyof SessionConfig]?: (Name extends 'tokens' ? object : SessionConfig[Name]) | null }

const TEXTS = ['model', 'provider', 'profile', 'cwd', 'preview', 'intent'] as const
const SWITCHES = ['thinking', 'trace', 'verbose'] as const
const NAMES: readonly string[] = [...TEXTS, ...SWITCHES, 'tokens']

export function takeConfig(given: ConfigOptions): ConfigChange {
  const options = optionsOf(given, 'configure')
  checkKnown(Object.fromEntries(Object.entries(options).filter(([name]) => !NAMES.includes(name))), 'configure')
  const entries = Object.entries(options)
  for (const [name, value] of entries) if (value !== undefined && value !== null) check(name, value)
  const set = Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== null))
  return { set: takeData(set) as SessionConfig, clear: entries.flatMap(([name, value]) => (value === null ? [name] : [])) }
}

function check(name: string, value: unknown): void {
  if (name === 'tokens') {
    checkTokens(value)
    return
  }
  const isSwitch = (SWITCHES as readonly string[]).includes(name)
  if (isSwitch && (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))) return
  if (typeof value === 'string' && value !== '' && value.isWellFormed() && value.length <= limits.titleChars) return
  const what = `a text of 1 to ${limits.titleChars} characters${isSwitch ? ', a number, true or false' : ''}, or null to clear it`
  throw invalidOption(name, what)
}

function checkTokens(value: unknown): void {
  const taken = typeof value === 'object' ? takeData(value) : undefined
  if (isObject(taken) && utf8Length(JSON.stringify(taken)) <= limits.metadataBytes) return
  throw invalidOption('tokens', `an object of at most ${limits.metadataBytes} bytes, or null to clear it`)
}
