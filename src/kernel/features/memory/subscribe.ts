// Tells subscribers that the memory of a scope has changed. They read the items themselves.

import type { MemoryId } from '../../../model/memory.ts'
import { checkKnown, filterOf } from '../../../model/options.ts'
import { tail } from '../../reading/abortable.ts'
import { readEvents } from '../../reading/read-events.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { readRow } from '../../writing/execute.ts'
import { checkAbout } from './item-options.ts'

export interface MemorySubscribeOptions {
  /** Only changes in this scope. */
  readonly about?: string
  readonly signal?: AbortSignal
}

export interface MemoryNotice {
  /** The kind of change: `remembered`, `updated`, `superseded`, `linked`, `unlinked`, `forgotten`, `purging` or `purged`. */
  readonly change: string
  readonly id: MemoryId
  /** Absent if the item is gone. */
  readonly about?: string
  readonly seq: number
  readonly at: number
}

/** Scopes of items that this subscription has seen: a purged item no longer says its own. */
const SCOPES_KNOWN = 10_000

/** A waiting subscription also ends by `return()`. */
export const subscribe = (scope: Scope, options: MemorySubscribeOptions | undefined): AsyncGenerator<MemoryNotice, void, undefined> =>
  tail(scope, (leaving) => follow(scope, options, leaving))

async function* follow(
  scope: Scope,
  options: MemorySubscribeOptions | undefined,
  leaving: AbortSignal,
): AsyncGenerator<MemoryNotice, void, undefined> {
  checkOpen(scope.engine)
  const { about, signal, ...unknown } = filterOf(options, 'memory.subscribe')
  checkKnown(unknown, 'memory.subscribe')
  if (about !== undefined) checkAbout(about)
  const { seq: after } = await scope.engine.backend.journal.head(scope.tenant)
  // It was left while the head was read.
  if (leaving.aborted) return
  const events = readEvents(scope, { types: ['memory.*'], after, live: true, ...(signal && { signal }) })
  leaving.addEventListener('abort', () => void events.return(), { once: true })
  const scopes = new Map<string, string>()
  for await (const event of events) {
    const { subject } = event
    if (subject === undefined) continue
    const said = (event.data as { readonly about?: string } | undefined)?.about
    const found = said ?? scopes.get(subject) ?? (await readRow(scope, 'memory', subject)).body?.about
    if (found) {
      if (scopes.size >= SCOPES_KNOWN) scopes.clear()
      scopes.set(subject, found)
    }
    if (about !== undefined && found !== about) continue
    yield {
      change: event.type.slice('memory.'.length),
      id: subject as MemoryId,
      ...(found && { about: found }),
      seq: event.seq,
      at: event.at,
    }
  }
}
