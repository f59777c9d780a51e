// A run takes up what was said: the inputs and the entry on its tape are one commit under its fence, so that replay hears the same and nothing is
// heard twice.

import { utf8Length } from '../../model/bytes.ts'
import { refuse } from '../../model/errors.ts'
import { INPUT_BOUNDARIES, type InputBoundary, type InputId, type InputRow } from '../../model/input.ts'
import { limits } from '../../model/limits.ts'
import { optionsOf } from '../../model/options.ts'
import { type Body, decodeBody } from '../../model/rows.ts'
import type { Stored } from '../../model/run.ts'
import { part } from '../execute.ts'
import { isConflict } from '../outcome.ts'
import type { BranchHandle } from '../runs/branch.ts'
import type { OpenRun } from '../runs/open-run.ts'
import { NEXT } from '../runs/run-decider.ts'
import { load } from '../runs/stored.ts'
import type { Asked, Entry } from '../runs/tape.ts'
import { input } from './input-decider.ts'

export interface TakeInputsOptions {
  /** Where in the turn it listens: after some work (the default), or before it ends, where everything is admitted. */
  readonly boundary?: InputBoundary
  /** What was said to this run (the default), or what waits for the next turn, which this run then is. */
  readonly from?: 'active' | 'next'
  /** At most so many; the default is 64, and that is the most. */
  readonly most?: number
}

/** An input as the run that took it sees it: the same under replay. */
export interface TakenInput extends Pick<InputRow, 'id' | 'boundary' | 'key' | 'by' | 'offeredAt'> {
  readonly content: unknown
}

type Kept = Omit<TakenInput, 'content'> & { readonly content?: Stored }

interface Wanted {
  readonly boundary: InputBoundary
  readonly from: 'active' | 'next'
  readonly most: number
}

export async function takeInputs(branch: BranchHandle, options: TakeInputsOptions | undefined): Promise<readonly TakenInput[]> {
  const { boundary = 'afterWork', from = 'active', most = limits.takenAtOnce } = optionsOf(options, 'inputs')
  const wrong = (option: string, why: string) => refuse('OPTION_INVALID', { option, why })
  if (!INPUT_BOUNDARIES.includes(boundary)) throw wrong('boundary', "it is 'afterWork' or 'beforeCompletion'")
  if (from !== 'active' && from !== 'next') throw wrong('from', "it is 'active' or 'next'")
  checkMost(most)
  const entry = await branch.asks('inputs', from === 'next' ? NEXT : boundary, (asked) =>
    take(branch.open, asked, { boundary, from, most }),
  )
  const { inputs = [] } = (entry.outcome ?? {}) as { readonly inputs?: readonly Kept[] }
  return Promise.all(inputs.map(async ({ content, ...kept }) => ({ ...kept, content: await load(branch.open.scope, content) })))
}

export function checkMost(most: unknown): asserts most is number {
  if (!Number.isInteger(most) || (most as number) < 1 || (most as number) > limits.takenAtOnce)
    throw refuse('OPTION_INVALID', { option: 'most', why: `it is a whole number from 1 to ${limits.takenAtOnce}` })
}

async function take(open: OpenRun, asked: Asked, wanted: Wanted): Promise<Entry> {
  const { branch, name, ordinal } = asked
  const about = { session: open.row.session, run: open.id }
  for (let attempt = 1; ; attempt++) {
    const inputs = await heard(open, wanted)
    const at = open.scope.engine.environment.clock.now()
    const accept = inputs.map(({ id }) => part(input, id, { verb: 'accept', id, run: open.id }, about))
    const outcome = { inputs }
    try {
      await open.change({ verb: 'take', id: open.id, slot: { branch, name, ordinal }, kind: 'inputs', outcome }, accept, { at })
      return { ...asked, seq: 0, at, done: true, outcome }
    } catch (error) {
      // One of them was taken back just now.
      if (!isConflict(error, 'inputs') || attempt === limits.conflictRetries) throw error
    }
  }
}

/** What it may hear now, in the order it was said. */
async function heard(open: OpenRun, { boundary, from, most }: Wanted): Promise<readonly Kept[]> {
  const { scope, id: run } = open
  // Beside the turns of its session, it is not the next one.
  if (from === 'next' && open.row.parallel) return []
  // Others may have told it more than it knows of.
  if (from === 'next') await open.refresh()
  const { row } = open
  const room = from === 'next' ? Math.min(most, limits.runInputs - (row.prompted ?? 0)) : most
  const query =
    from === 'next' ? { index: 'bySessionAndState', equals: [row.session, 'deferred'] } : { index: 'byRun', equals: [run, 'pending'] }
  const kept: Kept[] = []
  let bytes = 0
  for (let cursor: string | undefined; room > 0; ) {
    const page = await scope.engine.backend.rows.list(scope.tenant, 'inputs', {
      ...query,
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    })
    for (const { id, body } of page.rows) {
      const { state: _, session: __, run: ___, acceptedAt: ____, endedAt: _____, ...one } = decodeBody<InputRow & Body>(body)
      if (from === 'active' && one.boundary === 'beforeCompletion' && boundary !== 'beforeCompletion') continue
      bytes += utf8Length(JSON.stringify(one.content ?? {}))
      // The first comes whatever its size.
      if (kept.length > 0 && bytes > limits.takenBytes) return kept
      kept.push({ ...(one as Omit<Kept, 'id'>), id: id as InputId })
      if (kept.length === room) return kept
    }
    if (page.cursor === undefined || page.rows.length < PAGE) return kept
    cursor = page.cursor
  }
  return kept
}

const PAGE = 128
