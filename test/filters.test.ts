// A filter member that is present and `undefined` is refused: `events({ session: user?.session })` would read every session.

import { expect, test } from 'vitest'
import type { Store } from '../src/index.ts'
import { openIn } from './support/engines.ts'
import { filesUnder, isSource, read } from './support/project.ts'

const drain = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
}

interface Filtered {
  /** The file that declares the members, below `src/kernel`. */
  readonly in: string
  /** The members that narrow the call. */
  readonly by: readonly string[]
  readonly call: (options: never) => unknown
  /** Other members that the call needs. */
  readonly with?: object
  /** The members that say how the call reads, and not what. */
  readonly how?: readonly string[]
}

const PAGES = ['last', 'cursor']

/** Every call that takes a filter. */
async function filtered(store: Store): Promise<Readonly<Record<string, Filtered>>> {
  const session = await store.session('s')
  const process = await store.processes.register('p', { kind: 'k', recovery: 'external' })
  const docs = store.vectors('v', { dimensions: 1 })
  const events = ['session', 'run', 'subject', 'types', 'actor', 'after', 'before', 'since', 'until']
  const approvals = ['state', 'run', 'session', 'subjectType', 'subject', 'risk', 'key', 'digest', 'askedBy', 'decidedBy', 'since', 'until']
  const memory = ['about', 'tags', 'source', 'kind', 'since', 'until', 'metadata']
  const recall = ['limit', 'minScore', 'at', 'superseded', 'weights', 'signal']
  const items = { in: 'features/memory/item-filter.ts', by: memory }
  return {
    events: {
      in: 'reading/read-events.ts',
      by: events,
      call: (o) => drain(store.events(o)),
      how: ['limit', 'live', 'backwards', 'signal'],
    },
    page: { in: 'reading/read-events.ts', by: events, call: (o) => store.page(o), how: ['limit', 'cursor', 'backwards', 'signal'] },
    event: { in: 'reading/find-event.ts', by: ['session'], call: (o) => store.event(o), with: { key: 'k' } },
    as: { in: 'wiring/acting-as.ts', by: ['own'], call: (o) => store.as('ada', o) },
    'sessions.list': {
      in: 'features/sessions/list-sessions.ts',
      by: ['state', 'owner', 'branch', 'relation', 'parent', 'text'],
      call: (o) => store.sessions.list(o),
      how: [...PAGES, 'first'],
    },
    'runs.list': { in: 'features/runs/admin.ts', by: ['state', 'session', 'name', 'parent'], call: (o) => store.runs.list(o), how: PAGES },
    usage: { in: 'features/usage/report.ts', by: ['session', 'since', 'until'], call: (o) => store.usage(o), how: ['by', 'signal'] },
    'queue.list': { in: 'features/work/queue.ts', by: ['state'], call: (o) => store.queue('q').list(o), how: PAGES },
    'queue.redrive': { in: 'features/work/admin.ts', by: ['most'], call: (o) => store.queue('q').redrive(o) },
    'inputs.list': { in: 'features/inputs/lists.ts', by: ['state'], call: (o) => session.inputs.list(o), how: [...PAGES, 'first'] },
    'inputs.prune': { in: 'features/inputs/lists.ts', by: ['olderThan'], call: (o) => session.inputs.prune(o) },
    'inbox.list': { in: 'features/inputs/lists.ts', by: ['state'], call: (o) => session.inbox.list(o), how: [...PAGES, 'first'] },
    'inbox.prune': { in: 'features/inputs/lists.ts', by: ['olderThan'], call: (o) => session.inbox.prune(o) },
    'approvals.list': { in: 'features/approvals/filter.ts', by: approvals, call: (o) => store.approvals.list(o), how: PAGES },
    'approvals.export': {
      in: 'features/approvals/export.ts',
      by: [...approvals, 'after'],
      call: (o) => drain(store.approvals.export(o)),
      how: ['signal'],
    },
    'approvals.permits.list': {
      in: 'features/approvals/permits.ts',
      by: ['state', 'session', 'digest'],
      call: (o) => store.approvals.permits.list(o),
      how: PAGES,
    },
    'cron.list': { in: 'features/cron/jobs.ts', by: ['state'], call: (o) => store.cron.list(o), how: PAGES },
    'cron.occurrences': { in: 'features/cron/jobs.ts', by: ['state'], call: (o) => store.cron.occurrences('j', o), how: PAGES },
    'triggers.list': { in: 'features/triggers/triggers.ts', by: ['source', 'state'], call: (o) => store.triggers.list(o), how: PAGES },
    'triggers.history': {
      in: 'features/triggers/history.ts',
      by: ['trigger', 'source'],
      call: (o) => store.triggers.history(o),
      how: PAGES,
    },
    'processes.list': {
      in: 'features/processes/list-processes.ts',
      by: ['state', 'kind', 'wake', 'session', 'definition'],
      call: (o) => store.processes.list(o),
      how: [...PAGES, 'all'],
    },
    'processes.grants': {
      in: 'features/processes/grants.ts',
      by: ['session', 'process', 'live'],
      call: (o) => store.processes.grants(o),
      with: { session: session.id },
      how: PAGES,
    },
    'process.events': {
      in: 'features/processes/events.ts',
      by: ['after', 'type'],
      call: (o) => process.events(o),
      how: ['last', 'limit', 'cursor'],
    },
    'process.count': { in: 'features/processes/events.ts', by: ['after', 'type', 'through'], call: (o) => process.count(o) },
    'process.nextEvent': { in: 'features/processes/events.ts', by: ['after', 'type'], call: (o) => process.nextEvent(o) },
    'store.threads.list': { in: 'features/threads/threads.ts', by: ['user', 'state'], call: (o) => store.threads.list(o), how: PAGES },
    'session.threads.list': { in: 'features/threads/threads.ts', by: ['user', 'state'], call: (o) => session.threads.list(o), how: PAGES },
    'thread.messages': {
      in: 'features/threads/list-messages.ts',
      by: ['branch', 'execution'],
      call: (o) => session.thread.messages(o),
      how: ['first', 'last', 'before', 'after'],
    },
    'graph.list': { in: 'features/graph/read-graph.ts', by: ['frame'], call: (o) => session.graph.list(o), how: [...PAGES, 'first'] },
    'graph.path': { in: 'features/graph/path.ts', by: ['frame'], call: (o) => session.graph.path(o), how: [...PAGES, 'leaf'] },
    'canvases.list': { in: 'features/canvas/canvases.ts', by: ['session'], call: (o) => store.canvases.list(o), how: PAGES },
    'attachments.sweep': {
      in: 'features/attachments/sweep.ts',
      by: ['olderThan'],
      call: (o) => store.attachments.sweep(o),
      how: ['signal'],
    },
    'attachments.uncommitted': {
      in: 'features/attachments/uncommitted.ts',
      by: ['olderThan'],
      call: (o) => drain(store.attachments.uncommitted(o)),
      how: ['signal'],
    },
    'vectors.search': {
      in: 'features/vectors/vectors.ts',
      by: ['filter'],
      call: (o) => docs.search([1], o),
      how: ['top', 'minScore', 'signal'],
    },
    'vectors.count': { in: 'features/vectors/vectors.ts', by: ['filter'], call: (o) => docs.count(o), how: ['signal'] },
    'vectors.delete': { in: 'features/vectors/vectors.ts', by: ['filter', 'ids'], call: (o) => docs.delete(o) },
    'memory.list': { ...items, call: (o) => store.memory.list(o), how: [...PAGES, 'forgotten'] },
    'memory.recall': { ...items, call: (o) => store.memory.recall('x', o), how: recall },
    'memory.forget': { ...items, call: (o) => store.memory.forget(o) },
    'memory.purge': { ...items, call: (o) => store.memory.purge(o) },
    'memory, by the source': {
      in: 'features/memory/item-filter.ts',
      by: ['event', 'message', 'file', 'session'],
      call: (source) => store.memory.list({ source }),
    },
    'memory.subscribe': { in: 'features/memory/subscribe.ts', by: ['about'], call: (o) => drain(store.memory.subscribe(o)) },
  }
}

/** Members whose comment begins like that of a filter. Each says where a reader stands, or is no option of a read. */
const NO_FILTERS = [
  // Versions of one canvas, keys of one list, messages of one thread and ids of tenants: a reader passes where it stands, and nothing before
  // the first page.
  'wiring/list-tenants.ts after',
  'features/canvas/history.ts after',
  'features/canvas/history.ts before',
  'features/state/state.ts after',
  'features/threads/list-messages.ts before',
  'features/threads/list-messages.ts after',
  'features/processes/events.ts last',
  // The least score has a default, and an item is either there or forgotten.
  'features/memory/items.ts forgotten',
  'features/memory/recall.ts minScore',
  'features/vectors/vectors.ts minScore',
  // Options of a write.
  'features/inputs/session-inbox.ts merge',
  'features/turns/enqueue.ts merge',
  // An option of the store.
  'features/memory/options.ts retentionDays',
]

test('a filter member that is present and undefined is refused in every call that takes a filter, and nothing is written', async () => {
  const store = await openIn(':memory:')
  const calls = Object.entries(await filtered(store))
  const { seq } = await store.head()
  const told: Record<string, unknown> = {}
  const wanted: Record<string, string> = {}
  for (const [name, { by, call, with: more }] of calls) {
    for (const member of by) {
      wanted[`${name} ${member}`] = 'refused'
      told[`${name} ${member}`] = await answer(() => call({ ...more, [member]: undefined } as never), member)
    }
  }
  expect(told).toEqual(wanted)
  expect((await store.head()).seq).toBe(seq)
})

async function answer(call: () => unknown, member: string): Promise<unknown> {
  try {
    await call()
    return 'taken'
  } catch (error) {
    const { code, details, message } = error as { readonly code?: string; readonly details?: { readonly option?: string }; message: string }
    const says = code === 'OPTION_INVALID' && details?.option === member && message.includes('leave the member out')
    return says ? 'refused' : error
  }
}

test('members that say how a call reads may be undefined, so that the first page is asked for like every other', async () => {
  const store = await openIn(':memory:')
  for (const [name, { call, how = [], with: more }] of Object.entries(await filtered(store))) {
    const options = Object.fromEntries(how.map((member) => [member, undefined]))
    const read = async () => call({ ...more, ...options } as never)
    if (how.length > 0) await expect(read(), name).resolves.not.toThrow()
  }
})

test('every option whose comment calls it a filter is tried above', async () => {
  const store = await openIn(':memory:')
  const tried = Object.values(await filtered(store)).flatMap(({ in: file, by, how = [] }) => [...by, ...how].map((one) => `${file} ${one}`))
  const comment = /\/\*\* (?:`true`: only|Only|Items (?:that|whose)) [^*]*\*\/\s*readonly (\w+)\?:/g
  const found = filesUnder('src/kernel', isSource).flatMap((path) =>
    [...read(path).matchAll(comment)].map(([, member]) => `${path.slice('src/kernel/'.length)} ${member}`),
  )
  expect(found.length).toBeGreaterThan(40)
  expect(found.filter((one) => ![...tried, ...NO_FILTERS].includes(one))).toEqual([])
})
