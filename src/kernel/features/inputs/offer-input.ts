// Offers an input to a session: to the active turn, to a run by its id, or to the next turn. Written once for each key.

import { canonical } from '../../../model/canonical.ts'
import { InkError, refuse } from '../../../model/errors.ts'
import { isId, type RunId, type SessionId } from '../../../model/ids.ts'
import { INPUT_BOUNDARIES, type InputBoundary, type InputId, type InputRow } from '../../../model/input.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { decodeBody, type StoredRow } from '../../../model/rows.ts'
import { isOver, type RunRow } from '../../../model/run.ts'
import { isUnmasked, load, storeOffered } from '../../content/json-or-blob.ts'
import { WriteTime } from '../../measuring/write-time.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { maskKey } from '../../naming/names.ts'
import { everyRow } from '../../reading/every-row.ts'
import { checkThere } from '../../session/refuse-deleted.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { NOT_THERE, part, plan, readRow } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { readRun } from '../runs/result.ts'
import { run as runDecider } from '../runs/run-decider.ts'
import { input, type OfferedInput as OfferedSet } from './input-decider.ts'

export interface InputOptions {
  /** `active` is the running turn or else the next one (the default). `next` is always the next turn. A run is named by its id. */
  readonly turn?: string
  /** The earliest boundary in the turn at which the run may take the input. The default is `afterWork`. */
  readonly boundary?: InputBoundary
  /** Idempotency key: with the same content, turn and boundary it returns the same input, also an ended one. Anything else is refused. */
  readonly key?: string
  /** `false` stores the content without masking secrets. */
  readonly redact?: boolean
}

/** An input with its content. */
export interface Input extends Omit<InputRow, 'content'> {
  readonly content: unknown
}

/** An offered input, and whether its key was used before. */
export interface OfferedInput extends Input {
  readonly repeated: boolean
}

/** The id follows from the key, if there is one. The key is taken as long as the row exists. */
export const inputId = (scope: Scope, session: SessionId, key: string | undefined): InputId =>
  key === undefined ? scope.engine.newId<'input'>() : derivedId<'input'>(scope, `input/${session}\n${key}`)

export async function offerInput(
  scope: Scope,
  session: SessionId,
  content: unknown,
  options: InputOptions | undefined,
): Promise<OfferedInput> {
  checkOpen(scope.engine)
  const { turn: wanted = 'active', boundary = 'afterWork', key: given, redact, ...unknown } = optionsOf(options, 'input')
  checkKnown(unknown, 'an input')
  if (content === undefined) throw invalidOption('content', 'a value', content)
  const turn = takeTurn(wanted)
  if (!INPUT_BOUNDARIES.includes(boundary)) throw invalidOption('boundary', "'afterWork' or 'beforeCompletion'", boundary)
  const key = given === undefined ? undefined : maskKey(scope, given)
  const time = new WriteTime(scope.engine.environment.clock)
  const stored = await storeOffered(scope, content, 'an input of the session', redact, time)
  const id = inputId(scope, session, key)
  // A retry may help when another writer was first with this key, and when the active turn has just ended.
  const mayHelp = (error: unknown) =>
    isConflict(error, 'inputs') || (turn === 'active' && error instanceof InkError && error.code === 'RUN_FINISHED')
  const asked = turn === 'active' ? {} : { turn }
  const set = { boundary, content: stored, ...asked, ...(key !== undefined && { key }) }
  return retryConflicts(scope, mayHelp, async () => {
    const known = key === undefined ? undefined : await readInput(scope, session, id)
    if (known) return { ...(await sameInput(scope, known, set)), repeated: true }
    const run = await hearer(scope, session, turn)
    const about = { session, ...(run && { run }) }
    const offer = part(input, id, { verb: 'offer', id, set }, { ...about, seen: NOT_THERE, whole: isUnmasked(stored) })
    // The commit changes the row of the run too, so that the run cannot end without having looked for this input.
    const prompt = run ? [part(runDecider, run, { verb: 'prompt', id: run, input: id }, about)] : []
    const { rows } = await plan(scope, [offer, ...prompt], { open: session, time })
    return { ...(await toInput(scope, rows[0].body as InputRow)), repeated: false }
  })
}

type Turn = 'active' | 'next' | RunId

function takeTurn(turn: string): Turn {
  if (turn === 'active' || turn === 'next') return turn
  if (!isId(turn)) throw invalidOption('turn', "'active', 'next' or the id of a run", turn)
  return turn as RunId
}

/** The run that is to hear the input. Undefined for the next turn. */
async function hearer(scope: Scope, session: SessionId, turn: Turn): Promise<RunId | undefined> {
  if (turn === 'next') return undefined
  if (turn === 'active') return activeRun(scope, session)
  const row = await readRun(scope, turn)
  if (!row || isOver(row.state)) await checkThere(scope, session)
  if (row?.session !== session) throw refuse('RUN_UNKNOWN', { run: turn, tenant: scope.tenant, session })
  if (isOver(row.state)) throw refuse('RUN_FINISHED', { run: turn, name: row.name, state: row.state })
  return turn
}

/** The newest run that was started and is not parallel. */
async function activeRun(scope: Scope, session: SessionId): Promise<RunId | undefined> {
  const found = await Promise.all([newest(scope, session, 'running'), newest(scope, session, 'waiting')])
  const [first, second] = found.sort((a, b) => (b?.born ?? 0) - (a?.born ?? 0))
  return (first ?? second)?.id as RunId | undefined
}

const PAGE = 50

async function newest(scope: Scope, session: SessionId, state: RunRow['state']): Promise<StoredRow | undefined> {
  const range = { index: 'bySessionAndState', equals: [session, state], backwards: true, limit: PAGE }
  for await (const row of everyRow(scope, 'runs', range)) if (!decodeBody(row.body, row).parallel) return row
  return undefined
}

/** Reads an input, if it belongs to this session. */
export async function readInput(scope: Scope, session: SessionId, id: InputId): Promise<InputRow | undefined> {
  const { body: row } = await readRow(scope, 'inputs', id)
  return row?.session === session ? row : undefined
}

function sameInput(scope: Scope, row: InputRow, { boundary, turn, content }: OfferedSet): Promise<Input> {
  if (row.boundary !== boundary || row.turn !== turn || canonical(row.content ?? {}) !== canonical(content ?? {}))
    throw refuse('KEY_REUSED', { input: row.id, state: row.state, key: row.key ?? '' })
  return toInput(scope, row)
}

export async function toInput(scope: Scope, row: InputRow): Promise<Input> {
  return { ...row, content: await load(scope, row.content) }
}
