// Who ought to have been told of what, read from the journal alone: at the seq of a firing, every trigger of its source that was enabled and
// asked for its type, with the revision it had then; nobody else, and nobody later.

import type { Event, Store } from '../../src/index.ts'

interface Trigger {
  readonly name: string
  readonly source: string
  readonly type: string | undefined
  readonly state: 'enabled' | 'disabled' | 'deleted'
  readonly revision: number
}

interface Definition {
  readonly name: string
  readonly source: string
  readonly match?: { readonly type?: string }
}

interface Told {
  readonly firing: string
  readonly trigger: string
  readonly revision: number
  readonly item: string
}

/** What is wrong. Matches are by type, or by nothing. */
export async function complaintsOf(store: Store): Promise<readonly string[]> {
  const events: Event[] = []
  for await (const event of store.events()) events.push(event)
  const triggers = new Map<string, Trigger>()
  const told = Map.groupBy(
    events.filter(({ type }) => type === 'delivery.reserved').map((e) => ({ seq: e.seq, ...(e.data as Told) })),
    ({ firing }) => firing,
  )
  const offered = new Map(events.filter(({ type }) => type === 'work.offered').map((e) => [e.subject as string, e.seq]))
  const firings = new Set<string>()
  const wrong: string[] = []
  for (const { type, subject = '', data, seq } of events) {
    if (type === 'trigger.fired') {
      if (firings.has(subject)) wrong.push(`fired twice: ${subject}`)
      firings.add(subject)
      const { source, payload } = data as { source: string; payload: { value: { type?: string } } }
      const wanted = [...triggers.values()]
        .filter((one) => one.state === 'enabled' && one.source === source && (one.type === undefined || one.type === payload.value.type))
        .map(({ name, revision }) => `${name}@${revision}`)
      const found = told.get(subject) ?? []
      const names = found.map(({ trigger, revision }) => `${trigger}@${revision}`)
      if (wanted.toSorted().join() !== names.toSorted().join())
        wrong.push(`at ${seq} [${wanted.toSorted()}] were to be told, and [${names.toSorted()}] were`)
      // One commit: nothing stands between the firing, its deliveries and their items.
      const last = seq + 2 * found.length
      for (const one of found) {
        const item = offered.get(one.item) ?? Infinity
        if (one.seq > last || item > last) wrong.push(`${one.trigger} was told of ${subject} in another commit`)
      }
    }
    const turned = /^trigger\.(set|enabled|disabled|deleted)$/.exec(type)?.[1]
    if (!turned) continue
    const before = triggers.get(subject)
    const revision = (before?.revision ?? 0) + 1
    if (turned === 'set') {
      const { name, source, match } = data as Definition
      const state = before === undefined || before.state === 'deleted' ? 'enabled' : before.state
      triggers.set(subject, { name, source, type: match?.type, state, revision })
    } else if (before) triggers.set(subject, { ...before, state: turned as Trigger['state'], revision })
  }
  for (const firing of told.keys()) if (!firings.has(firing)) wrong.push(`told of what did not happen: ${firing}`)
  return wrong
}
