// Repairs the messages of a thread that a crash or an import left unfinished, so that a model accepts them again.

import { checkKnown, optionsOf } from '../../../model/options.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyRow } from '../../reading/every-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isText, isTool, lackedBy } from './check-part.ts'
import { readContent } from './content.ts'
import { linkedApprovals } from './linked-approvals.ts'
import { isShown, type ThreadPlace } from './list-messages.ts'
import type { AnyMessage, AnyPart } from './stored-message.ts'
import { messageOf } from './stored-rows.ts'
import { updateMessage } from './write-messages.ts'

export interface RepairOptions {
  /** Stops between two messages. Those that were repaired stay so. */
  readonly signal?: AbortSignal
}

export interface RepairReport {
  readonly looked: number
  readonly changed: readonly { readonly message: string; readonly changes: readonly string[] }[]
}

const PAGE = 200

export async function repairThread(scope: Scope, place: ThreadPlace, options?: RepairOptions): Promise<RepairReport> {
  checkOpen(scope.engine)
  const { signal, ...unknown } = optionsOf(options, 'repair')
  checkKnown(unknown, 'a repair')
  stopIfAsked(scope, signal)
  const changed: { readonly message: string; readonly changes: readonly string[] }[] = []
  const range = { index: 'byThread', equals: [place.session, place.thread], backwards: true, limit: PAGE }
  let looked = 0
  for await (const stored of everyRow(scope, 'messages', range)) {
    stopIfAsked(scope, signal)
    const row = messageOf(stored)
    if (!isShown(row)) continue
    // A call in the last message may still be under way, unless its writer died.
    const isOver = looked++ > 0 || row.record?.interrupted === true
    const message = await readContent(scope, row.content)
    const decided = new Map((await linkedApprovals(scope, place.session, message)).map((one) => [one.toolCallId, one.state] as const))
    const fix = (one: AnyMessage) => repaired(one, isOver, decided)
    if (fix(message).changes.length === 0) continue
    let changes: readonly string[] = []
    await updateMessage(
      scope,
      place,
      row.message,
      (one) => {
        const result = fix(one)
        changes = result.changes
        return result.message
      },
      { redact: false, ...(row.record?.interrupted && { record: { interrupted: true } }) },
      // As it is stored: what is read has the answers already.
      (_, _session, content) => readContent(scope, content),
    )
    changed.unshift({ message: row.message, changes })
  }
  return { looked, changed }
}

function repaired(message: AnyMessage, isOver: boolean, decided: ReadonlyMap<string, string>) {
  const changes: string[] = []
  const parts = message.parts.map((given): AnyPart => {
    let part = given
    for (const repair of [cleanPart, completePart, repairPart]) {
      const [next, change] = repair(part, isOver, decided) ?? []
      if (next === undefined) continue
      changes.push(change as string)
      part = next
    }
    return part
  })
  return { message: changes.length === 0 ? message : { ...message, parts }, changes }
}

/** A stream may leave members of an earlier state, such as the error of a call that was denied afterwards. */
function cleanPart(part: AnyPart): readonly [AnyPart, string] | undefined {
  const odd = isTool(part) ? lackedBy(part) : []
  if (odd.length === 0) return undefined
  const rest = Object.fromEntries(Object.entries(part).filter(([name]) => !odd.includes(name))) as unknown as AnyPart
  return [rest, `tool call ${JSON.stringify(part.toolCallId)} had ${odd.join(' and ')} of another state`]
}

/** A stream may leave a result without the input, or without the answer to the question for approval. */
function completePart(part: AnyPart): readonly [AnyPart, string] | undefined {
  const { state, toolCallId, approval } = part
  if (!isTool(part)) return undefined
  const call = `tool call ${JSON.stringify(toolCallId)}`
  const lacksInput = state !== 'input-streaming' && state !== 'output-error' && part.input === undefined
  const answer = state === 'output-denied' ? false : state === 'output-available' || state === 'output-error' ? true : undefined
  const lacksAnswer = answer === undefined ? false : approval ? approval.approved !== answer : !answer
  if (!lacksInput && !lacksAnswer) return undefined
  const whole = {
    ...part,
    ...(lacksInput && { input: null }),
    ...(lacksAnswer && { approval: { id: toolCallId, ...approval, approved: answer } }),
  }
  return [whole, lacksInput ? `${call} had no input` : `${call} had no answer to its question`]
}

function repairPart(part: AnyPart, isOver: boolean, decided: ReadonlyMap<string, string>): readonly [AnyPart, string] | undefined {
  const { state, toolCallId } = part
  const call = `tool call ${JSON.stringify(toolCallId)}`
  if (isText(part) && state === 'streaming' && isOver) return [{ ...part, state: 'done' }, `the ${part.type} that was cut off has ended`]
  if (!isTool(part)) return undefined
  if (state === 'input-streaming' && isOver) {
    const { rawInput: _, inputEncoding: _encoding, ...rest } = part
    return [
      { ...rest, state: 'output-error', input: part.input ?? {}, errorText: 'The call was cut off.' },
      `${call} was cut off and has an error`,
    ]
  }
  const answer = decided.get(toolCallId)
  if (state === 'approval-requested' && answer === 'approved')
    return [{ ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } }, `${call} was approved`]
  if (state === 'approval-requested' && (answer === 'denied' || answer === 'expired' || answer === 'withdrawn'))
    return [{ ...part, state: 'output-denied', approval: { ...part.approval, approved: false } }, `${call} was ${answer}`]
  if (state === 'input-available' && isOver)
    return [{ ...part, state: 'output-error', errorText: 'No result was recorded.' }, `${call} had no result and has an error`]
  return undefined
}
