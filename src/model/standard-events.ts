// The types of events as the compiler sees them: what the data of each standard type holds, and what a query of types yields.

import { catalogue } from './catalogue.ts'
import type { Json } from './data.ts'
import type { Event } from './event.ts'

/** The data of the standard types, by the convention of the catalogue. Nothing checks it when an event is written. */
export interface StandardEvents {
  'agent.started': { readonly agent: string; readonly model?: string; readonly goal?: string }
  'agent.stopped': { readonly agent: string; readonly reason?: string }
  'agent.handed-over': { readonly from: string; readonly to: string; readonly reason?: string }
  'message.received': { readonly message: string; readonly role: string; readonly text?: string }
  'message.sent': { readonly message: string; readonly role: string; readonly text?: string }
  'model.called': { readonly model: string; readonly provider?: string; readonly call: string; readonly parameters?: Json }
  'model.answered': { readonly call: string; readonly finish: string; readonly usage?: Json }
  'model.failed': { readonly call: string; readonly error: Json; readonly retryable?: boolean }
  'tool.called': { readonly tool: string; readonly call: string; readonly arguments: Json }
  'tool.returned': { readonly call: string; readonly result?: Json }
  'tool.failed': { readonly call: string; readonly error: Json; readonly retryable?: boolean }
  'plan.changed': { readonly steps: Json }
  'thought.noted': { readonly text: string }
  'artifact.made': { readonly name: string; readonly mediaType?: string; readonly blob?: Json }
  'step.started': { readonly step: string; readonly name?: string; readonly input?: Json }
  'step.completed': { readonly step: string; readonly output?: Json }
  'step.failed': { readonly step: string; readonly error: Json; readonly retryable?: boolean }
  'step.discovered': { readonly step: string; readonly name?: string; readonly by?: string }
  'execution.paused': { readonly execution: string; readonly reason?: string }
  'execution.resumed': { readonly execution: string }
  'execution.checkpointed': { readonly execution: string; readonly checkpoint?: string; readonly step?: string }
  'artifact.stored': { readonly name: string; readonly mediaType?: string; readonly blob: Json }
  'goal.evaluated': { readonly goal: string; readonly reached: boolean; readonly score?: number; readonly reason?: string }
  'policy.checked': { readonly policy: string; readonly subject: string; readonly allowed: boolean; readonly reason?: string }
  'error.raised': { readonly error: Json; readonly where?: string }
}

export type StandardType = keyof StandardEvents

/** An event of a standard type. Comparing its `type` narrows its `data`. */
export type StandardEvent = EventOf<StandardType>

/** An event of this type, or of these types: the data of standard types is known, that of all others is up to their writer. */
export type EventOf<Type extends string> = Type extends StandardType
  ? Event<StandardEvents[Type], Type>
  : Type extends `${string}*`
    ? Event
    : Event<unknown, Type>

const STANDARD: ReadonlySet<string> = new Set(catalogue.map(({ type }) => type))

/** Says whether the type of an event is a standard one. After it, comparing `event.type` narrows `event.data`. */
export const isStandard = (event: Event): event is StandardEvent => STANDARD.has(event.type)
