// Agent frames: opened, listed and switched. A node belongs to the frame that it names, or to the current one.

import type { Cause } from '../../../model/cause.ts'
import { takeCause } from '../../../model/cause.ts'
import { refuse } from '../../../model/errors.ts'
import type { Frame } from '../../../model/graph.ts'
import type { SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { headId, takeName } from '../../naming/names.ts'
import type { Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { part, plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { readHead } from './head.ts'
import { head } from './head-decider.ts'

export interface OpenFrameOptions {
  readonly agent?: string
  /** Why it was opened, as free text. */
  readonly reason?: string
  readonly cause?: Cause
}

export interface SessionFrames {
  /** Opens a frame inside the current one, and makes it the current one. Opening it again only makes it current. */
  open(id: string, options?: OpenFrameOptions): Promise<Frame>
  /** Makes a frame current; null leaves all frames. */
  use(id: string | null): Promise<void>
  /** Lists the frames in the order of opening. */
  list(): Promise<{ readonly items: readonly (Frame & { readonly current: boolean })[] }>
}

export const sessionFrames = (scope: Scope, session: SessionId): SessionFrames => ({
  open: (id, options) => openFrame(scope, session, id, options),
  use: async (given) => {
    const frame = given === null ? null : takeName(scope, given, 'a frame')
    await retryConflicts(scope, ['session_heads'], async () => {
      const { head: row, ...seen } = await readHead(scope, session)
      if (frame !== null && !row.frames.some(({ id }) => id === frame)) throw refuse('FRAME_UNKNOWN', { session, frame })
      await plan(scope, [part(head, headId(scope, session), { verb: 'use', frame }, { session, seen })], { open: session, once: true })
    })
  },
  list: async () => {
    const { frames, frame } = (await readHead(scope, session)).head
    return { items: frames.map((one) => ({ ...one, current: one.id === frame })) }
  },
})

async function openFrame(scope: Scope, session: SessionId, given: string, options?: OpenFrameOptions): Promise<Frame> {
  const { agent, reason, cause, ...unknown } = optionsOf(options, 'frames.open')
  checkKnown(unknown, 'a frame')
  const id = takeName(scope, given, 'a frame')
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > limits.reasonChars))
    throw invalidOption('reason', `a text of at most ${limits.reasonChars} characters`)
  const about = {
    ...(agent !== undefined && { agent: takeName(scope, agent, 'an agent') }),
    ...(reason !== undefined && { reason }),
    ...(cause !== undefined && { cause: telling(scope, () => takeCause(cause)) }),
  }
  return retryConflicts(scope, ['session_heads'], async () => {
    const { head: row, ...seen } = await readHead(scope, session)
    // The frames stand in the row of the head.
    if (row.frames.length >= limits.sessionFrames && !row.frames.some((frame) => frame.id === id))
      throw refuse('FRAMES_FULL', { limit: limits.sessionFrames })
    const frame = { id, ...(row.frame !== undefined && { parent: row.frame }), ...about }
    const opening = part(head, headId(scope, session), { verb: 'open', frame }, { session, seen })
    const { rows } = await plan(scope, [opening], { open: session, once: true })
    return rows[0].body?.frames.find((one) => one.id === id) as Frame
  })
}
