// A thread as lists show it.

import { limits } from '../../../model/limits.ts'
import { invalidOption } from '../../../model/options.ts'
import type { ThreadRow } from '../../../model/thread.ts'
import { everyRow } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { isShown } from './list-messages.ts'
import { messageOf } from './stored-rows.ts'

export interface ThreadInfo extends Omit<ThreadRow, 'owner'> {
  readonly user?: string
  /** The number of messages, without those that were removed or erased. */
  readonly messages: number
  /** The time of the last message. */
  readonly lastAt?: number
}

const PAGE = 1000

/** Counts the messages of the thread: adding one does not change the row of its thread, so that many can be added at once. */
export async function threadInfo(scope: Scope, { owner, ...row }: ThreadRow): Promise<ThreadInfo> {
  let messages = 0
  let lastAt: number | undefined
  for await (const one of everyRow(scope, 'messages', { index: 'byThread', equals: [row.session, row.id], limit: PAGE })) {
    const message = messageOf(one)
    if (!isShown(message)) continue
    messages++
    lastAt = message.at
  }
  return { ...row, ...(owner !== undefined && { user: owner }), messages, ...(lastAt !== undefined && { lastAt }) }
}

export function checkTitle(scope: Scope, title: unknown): string {
  if (typeof title !== 'string' || title.length > limits.titleChars || !title.isWellFormed())
    throw invalidOption('title', `a text of at most ${limits.titleChars} characters`)
  return scope.engine.redactor?.text(title) ?? title
}
