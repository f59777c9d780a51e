// Checks the definition of a process. The same name with the same definition is the same process.

import { checkEnvironment } from '../../../model/artifact.ts'
import { utf8Length } from '../../../model/bytes.ts'
import { canonical } from '../../../model/canonical.ts'
import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { checkType } from '../../../model/event.ts'
import { type EventId, type RunId, toId } from '../../../model/ids.ts'
import { DELIVERIES } from '../../../model/inbox.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import {
  type Definition,
  type Ending,
  type EventTypeSpec,
  isCoreType,
  type ProcessRow,
  type Provenance,
  RECOVERIES,
  type Recovery,
  type TerminalSpec,
  type WakeSpec,
} from '../../../model/process.ts'
import { isPointer, type Selector, unfilled } from '../../../model/selector.ts'
import { store } from '../../content/json-or-blob.ts'
import { takeName } from '../../naming/names.ts'
import { sessionToWrite } from '../../session/session-named.ts'
import type { Scope } from '../../wiring/scope.ts'
import { admit, telling } from '../../writing/draft.ts'

export interface DeclaredEvent {
  /** Whether events of this type wake the session: always, or under conditions. */
  readonly wake?: boolean | WakeSpec
  /** How an event of this type ends the process. */
  readonly terminal?: TerminalSpec['state'] | TerminalSpec
  /** JSON pointers to members that the data of every event must have. */
  readonly needs?: readonly string[]
}

export interface RegisterOptions {
  /** Selects the handler: `store.processes.work({ [kind]: … })`. */
  readonly kind: string
  /** The recovery after the death of the node that runs the process. */
  readonly recovery: Recovery
  readonly provenance?: ProvenanceOptions
  readonly label?: string
  /** The definition of which the process is an instance, such as a name and a version. */
  readonly definition?: unknown
  readonly input?: unknown
  /** The environment to run it in, as `artifacts.putEnvironment` named it. */
  readonly env?: string
  /** The types that its events may have. The default is any type. */
  readonly events?: readonly string[] | Readonly<Record<string, DeclaredEvent>>
  /** The key or the id of the session that is woken by the end, and by events whose type says so. */
  readonly wake?: string
  /** The number of attempts of a rerunnable process until it has failed for good. */
  readonly attempts?: number
}

/** Ids are plain texts; the session may be named by its key. */
export type ProvenanceOptions = { readonly [Member in keyof Provenance]: string }

export async function takeDefinition(scope: Scope, options: RegisterOptions): Promise<Definition> {
  const given = optionsOf(options, 'register')
  const {
    recovery,
    attempts,
    kind: _k,
    provenance: _p,
    label: _l,
    definition: _d,
    input: _i,
    events: _e,
    wake: _w,
    env: _env,
    ...unknown
  } = given
  checkKnown(unknown, 'a process')
  if (!RECOVERIES.includes(recovery)) throw invalidOption('recovery', `one of ${RECOVERIES.join(', ')}`, recovery)
  if (attempts !== undefined && (recovery !== 'rerunnable' || !Number.isSafeInteger(attempts) || attempts < 1))
    throw invalidOption('attempts', "an integer ≥ 1, and only with recovery: 'rerunnable'", attempts)
  const kind = takeName(scope, given.kind, 'a process kind')
  const label = given.label === undefined ? undefined : takeText(scope, 'label', given.label, limits.titleChars)
  const definition = takeSmall(scope, 'definition', given.definition)
  const events = given.events && takeEvents(scope, given.events)
  const env = given.env === undefined ? undefined : telling(scope, () => checkEnvironment(given.env))
  const input = given.input === undefined ? undefined : admit(scope, given.input, 'the input of a process')
  // Everything else is taken before the first wait, because the caller may change its object meanwhile.
  const provenance = given.provenance && (await takeProvenance(scope, given.provenance))
  const wake = given.wake === undefined ? undefined : await sessionToWrite(scope, given.wake)
  return {
    kind,
    recovery,
    ...(provenance && { provenance }),
    ...(label !== undefined && { label }),
    ...(definition !== undefined && { definition }),
    ...(input !== undefined && { input: await store(scope, input, { of: 'the input' }, true) }),
    ...(env !== undefined && { env }),
    ...(events && { events }),
    ...(wake && { wake }),
    ...(recovery === 'rerunnable' && { attempts: attempts ?? limits.workAttempts }),
  }
}

const COMPARED = ['kind', 'recovery', 'provenance', 'label', 'definition', 'input', 'env', 'events', 'attempts'] as const

/** The members that differ between the registered definition and the given one. */
export function differences(row: ProcessRow, wanted: Definition): readonly string[] {
  const differing: string[] = COMPARED.filter((name) => canonical([row[name] ?? null]) !== canonical([wanted[name] ?? null]))
  // A session that was deleted since still counts as the one that was named.
  return (row.wake ?? row.wakeWas) === wanted.wake ? differing : [...differing, 'wake']
}

export function takeText(scope: Scope, option: string, text: unknown, most: number = limits.reasonChars): string {
  if (typeof text !== 'string' || !text.isWellFormed() || text.length > most)
    throw invalidOption(option, `a text of at most ${most} characters`)
  return admit(scope, text) as string
}

/** Checks JSON that is kept in the row. It is small, because every change of the row rewrites it. */
export function takeSmall(scope: Scope, option: string, given: unknown): Json | undefined {
  if (given === undefined) return undefined
  const taken = admit(scope, given)
  if (utf8Length(JSON.stringify(taken)) > limits.metadataBytes) throw invalidOption(option, `at most ${limits.metadataBytes} bytes of JSON`)
  return taken
}

async function takeProvenance(scope: Scope, given: ProvenanceOptions): Promise<Provenance> {
  const { session, run, cause, by, ...unknown } = optionsOf(given, 'provenance')
  checkKnown(unknown, 'provenance')
  const origin = session === undefined ? undefined : await sessionToWrite(scope, session)
  return telling(scope, () => ({
    ...(origin !== undefined && { session: origin }),
    ...(run !== undefined && { run: toId<'run'>(run) as RunId }),
    ...(cause !== undefined && { cause: toId<'event'>(cause) as EventId }),
    ...(by !== undefined && { by: takeText(scope, 'provenance.by', by) }),
  }))
}

function takeEvents(scope: Scope, given: NonNullable<RegisterOptions['events']>): NonNullable<Definition['events']> {
  if (typeof given !== 'object' || given === null)
    throw invalidOption('events', 'an array of types, or an object with a member for each type', given)
  const entries = Array.isArray(given) ? given.map((type) => [type, {}] as const) : Object.entries(given)
  if (entries.length > limits.processEventTypes) throw invalidOption('events', `at most ${limits.processEventTypes} types`, entries.length)
  const events: Record<string, EventTypeSpec> = {}
  for (const [type, declared] of entries) {
    telling(scope, () => checkType(type))
    if (Object.hasOwn(events, type)) throw refuse('OPTION_INVALID', { option: 'events', why: `the type ${type} is declared twice` })
    events[type] = takeType(type, optionsOf(declared as DeclaredEvent, `events.${type}`))
  }
  return takeSmall(scope, 'events', events) as unknown as NonNullable<Definition['events']>
}

function takeType(type: string, { wake, terminal, needs, ...unknown }: DeclaredEvent): EventTypeSpec {
  const at = `events.${type}`
  checkKnown(unknown, 'a type of events')
  if (isCoreType(type) && (terminal !== undefined || needs !== undefined))
    throw refuse('OPTION_INVALID', { option: at, why: 'a type of Inkfast itself can only declare `wake`' })
  if (needs !== undefined && !(Array.isArray(needs) && needs.every(isPointer)))
    throw invalidOption(`${at}.needs`, 'an array of JSON pointers')
  return {
    ...(wake !== undefined && { wake: wake === true ? {} : wake === false ? false : takeWake(`${at}.wake`, wake) }),
    ...(terminal !== undefined && { terminal: takeTerminal(`${at}.terminal`, terminal) }),
    ...(needs !== undefined && { needs }),
  }
}

function takeWake(at: string, given: WakeSpec): WakeSpec {
  const { when, input, dedupe, delivery, ...unknown } = optionsOf(given, at)
  checkKnown(unknown, 'a wake-up')
  if (when !== undefined && !isPointer(when)) throw invalidOption(`${at}.when`, 'a JSON pointer', when)
  if (delivery !== undefined && !DELIVERIES.includes(delivery))
    throw invalidOption(`${at}.delivery`, `one of ${DELIVERIES.join(', ')}`, delivery)
  return {
    ...(when !== undefined && { when }),
    ...(input !== undefined && { input: takeSelector(`${at}.input`, input) }),
    ...(dedupe !== undefined && { dedupe: takeSelector(`${at}.dedupe`, dedupe) }),
    ...(delivery !== undefined && { delivery }),
  }
}

const CLOSING: readonly Ending[] = ['completed', 'failed', 'cancelled']

function takeTerminal(at: string, given: TerminalSpec['state'] | TerminalSpec): TerminalSpec {
  const { state, output, ...unknown }: TerminalSpec = typeof given === 'string' ? { state: given } : optionsOf(given, at)
  checkKnown(unknown, 'an end')
  if (!CLOSING.includes(state)) throw invalidOption(at, `one of ${CLOSING.join(', ')}`, state)
  // A completed process has the whole data as its value. Other ends need `output` to name the error or the reason.
  if (state !== 'completed' && output === undefined)
    throw refuse('OPTION_INVALID', { option: at, why: `the state ${state} needs \`output\`, which selects the error or reason` })
  return { state, ...(output !== undefined && { output: takeSelector(`${at}.output`, output) }) }
}

const SELECTORS: readonly (readonly string[])[] = [['payload'], ['pointer'], ['present'], ['const'], ['template', 'fields']]

function takeSelector(at: string, given: Selector): Selector {
  const selector = optionsOf(given, at) as Selector
  const known = SELECTORS.find(([name = '']) => name in selector) ?? []
  for (const option of Object.keys(selector))
    if (!known.includes(option)) throw refuse('OPTION_INVALID', { option: `${at}.${option}`, why: 'a selector has no such member' })
  if ('payload' in selector && selector.payload === true) return { payload: true }
  if ('pointer' in selector && isPointer(selector.pointer)) return { pointer: selector.pointer }
  if ('present' in selector && isPointer(selector.present)) return { present: selector.present }
  if ('const' in selector) return { const: selector.const }
  if ('template' in selector && typeof selector.template === 'string') {
    const fields = optionsOf(selector.fields, `${at}.fields`)
    const [missing] = unfilled({ template: selector.template, fields })
    if (missing !== undefined)
      throw refuse('OPTION_INVALID', { option: `${at}.fields`, why: `the template names the field '${missing}', which is missing` })
    if (Object.values(fields).every(isPointer)) return { template: selector.template, fields: { ...fields } }
  }
  throw invalidOption(at, '{ payload: true }, { pointer }, { const }, { present } or { template, fields }, with JSON pointers')
}
