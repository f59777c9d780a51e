// Damage to reading the journal and to being woken.

import type { EventRecord } from '../../../src/model/event.ts'
import { MAIN } from '../../../src/model/ids.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Outcome } from '../../../src/ports/commit.ts'
import type { PageQuery } from '../../../src/ports/journal.ts'
import type { Wakeups } from '../../../src/ports/wakeups.ts'
import { repaging, type Sabotage, spoiled } from './spoil.ts'

const unbroken = 'pages neither skip an event nor repeat one'
const bounded = 'a page keeps to its bounds'
const chosen = 'a page holds what its query names and nothing else'
const honest = 'a page says how far it looked'
const linked = 'every event is linked to the one before'

const flipped = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes, (byte, i) => (i === 0 ? byte ^ 1 : byte))

const asking = (alter: (query: PageQuery) => PageQuery) => repaging((page, query) => page(alter(query)))
const showing = (alter: (event: EventRecord) => EventRecord) =>
  repaging(async (page, query) => {
    const read = await page(query)
    return { ...read, events: read.events.map(alter) }
  })

const ignoring = (member: 'id' | 'key' | 'session' | 'run' | 'subject' | 'actor' | 'types' | 'since' | 'until'): Sabotage =>
  spoiled(
    `ignores ${member} when paging`,
    [chosen],
    asking(({ [member]: _, ...query }) => query),
  )

const signalling =
  (watch: (wakeups: Wakeups) => Wakeups['watch']) =>
  (backend: Backend): Backend => ({ ...backend, wakeups: { ...backend.wakeups, watch: watch(backend.wakeups) } })

export const journalSabotages: readonly Sabotage[] = [
  spoiled(
    'alters a hash that it shows',
    [linked, 'the chain still holds after an erasure'],
    showing((e) => (e.seq === 2 ? { ...e, hash: flipped(e.hash) } : e)),
  ),
  spoiled('alters the hash of a receipt', [linked, 'the head is the last event'], (backend) => ({
    ...backend,
    commit: async (batch) =>
      (await backend.commit(batch)).map(
        (o): Outcome => (o.ok ? { ...o, receipts: o.receipts.map((r) => ({ ...r, hash: `0${r.hash.slice(1)}` })) } : o),
      ),
  })),
  spoiled(
    'leaves a gap in the seqs',
    ['seqs begin at one and have no gap'],
    repaging(async (page, query) => {
      const read = await page({ ...query, from: query.from > 2 ? query.from - 1 : query.from })
      const events = read.events.map((e) => (e.seq > 2 ? { ...e, seq: e.seq + 1 } : e))
      return { ...read, events, through: Math.max(read.through, events.at(-1)?.seq ?? 0) }
    }),
  ),
  spoiled('shows a head that lags', ['the head is the last event', linked], (backend) => ({
    ...backend,
    journal: {
      ...backend.journal,
      head: async (tenant) => {
        const { seq, state } = await backend.journal.head(tenant)
        const page = await backend.journal.page(tenant, { from: seq, limit: 1, backwards: true })
        return { ...(page.events[0] ?? { seq: 0, hash: new Uint8Array(32) }), state }
      },
    },
  })),
  spoiled('begins a journal with a hash of nothing', ['the head is the last event'], (backend) => ({
    ...backend,
    journal: {
      ...backend.journal,
      head: async (tenant) => {
        const head = await backend.journal.head(tenant)
        return head.seq === 0 ? { ...head, hash: new Uint8Array(0) } : head
      },
    },
  })),
  spoiled(
    'drops an event from its pages',
    [unbroken, bounded, chosen, linked],
    repaging(async (page, query) => {
      const read = await page(query)
      return { ...read, events: read.events.filter((e) => e.seq !== 3 && e.seq !== 7) }
    }),
  ),
  spoiled(
    'drops an event when a page is full',
    [unbroken, honest],
    repaging(async (page, query) => {
      const read = await page(query)
      return { ...read, through: read.more ? read.through + (query.backwards ? -2 : 2) : read.through }
    }),
  ),
  spoiled(
    'shows an event twice',
    [unbroken],
    repaging(async (page, query) => {
      const read = await page(query)
      return { ...read, events: read.events.flatMap((e) => (e.seq === 3 ? [e, e] : [e])) }
    }),
  ),
  spoiled(
    'begins a page with the last event of the one before',
    [unbroken, bounded, honest],
    asking((query) => ({ ...query, from: query.backwards ? query.from + 1 : Math.max(0, query.from - 1) })),
  ),
  spoiled(
    'takes what comes later for read',
    [unbroken],
    repaging(async (page, query) => {
      const read = await page(query)
      return { ...read, through: read.more || query.backwards ? read.through : read.through + 1 }
    }),
  ),
  spoiled(
    'ignores the limit',
    [bounded],
    asking((query) => ({ ...query, limit: 1000 })),
  ),
  spoiled(
    'ignores bytes',
    [bounded],
    asking(({ bytes: _, ...query }) => query),
  ),
  spoiled(
    'ignores the end of a range',
    [bounded],
    asking(({ to: _, ...query }) => query),
  ),
  spoiled(
    'reads downwards as upwards',
    [unbroken, bounded, chosen],
    asking(({ backwards: _, ...query }) => query),
  ),
  spoiled(
    'says that there is no more when bytes end a page',
    [bounded],
    repaging(async (page, query) => {
      const read = await page(query)
      return { ...read, more: read.more && read.events.length === query.limit }
    }),
  ),
  spoiled(
    'says that there is always more',
    [honest],
    repaging(async (page, query) => ({ ...(await page(query)), more: true })),
  ),
  spoiled(
    'says that it looked no further than the last event it found',
    [honest],
    repaging(async (page, query) => {
      const read = await page(query)
      return { ...read, through: read.events.at(-1)?.seq ?? (query.backwards ? query.from : 0) }
    }),
  ),
  ...(['id', 'key', 'session', 'run', 'subject', 'actor', 'types', 'since', 'until'] as const).map(ignoring),
  spoiled(
    'takes a type for a prefix',
    [chosen],
    asking((query) => (query.types ? { ...query, types: query.types.map((p) => ({ ...p, prefix: true })) } : query)),
  ),
  spoiled(
    'shows the payload of another event',
    [chosen],
    repaging(async (page, query) => {
      const first = await page({ from: 0, limit: 1 })
      const read = await page(query)
      return { ...read, events: query.limit === 1 ? read.events.map((e) => ({ ...e, payload: first.events[0]?.payload })) : read.events }
    }),
  ),
  spoiled(
    'changes the digest of an erased event',
    ['erasing leaves everything but payload and salt', 'the chain still holds after an erasure'],
    showing((e) => (e.payload ? e : { ...e, digest: new Uint8Array(32) })),
  ),
  spoiled(
    'keeps the salt of an erased event',
    ['an erased payload is gone with its salt'],
    showing((e) => (e.salt ? e : { ...e, salt: new Uint8Array(16) })),
  ),
  spoiled('erases its neighbour too', ['an erased payload is gone with its salt'], (backend) => ({
    ...backend,
    commit: (batch) =>
      backend.commit(
        batch.map((c) => ({
          ...c,
          changes: c.changes.map((x) => (x.kind === 'erase' ? { ...x, seqs: x.seqs.flatMap((s) => (s > 1 ? [s - 1, s] : [s])) } : x)),
        })),
      ),
  })),
  spoiled('lists tenants in no order', ['tenants are those that were written to, in the order of their ids'], (backend) => ({
    ...backend,
    journal: { ...backend.journal, tenants: async () => (await backend.journal.tenants()).toReversed() },
  })),
  spoiled(
    'begins each page of tenants with the last one of the page before',
    ['tenants are those that were written to, in the order of their ids'],
    (backend) => ({
      ...backend,
      journal: {
        ...backend.journal,
        tenants: async ({ after = '', limit } = {}) =>
          (await backend.journal.tenants()).filter((tenant) => tenant >= after).slice(0, limit),
      },
    }),
  ),
  spoiled(
    'keeps all tenants in one',
    ['what one tenant has another neither sees nor touches', linked, 'keys of two tenants never meet'],
    (backend) => ({
      ...backend,
      commit: (batch) => backend.commit(batch.map((commit) => ({ ...commit, tenant: MAIN }))),
      journal: { ...backend.journal, head: () => backend.journal.head(MAIN), page: (_, query) => backend.journal.page(MAIN, query) },
      rows: {
        get: (_, table, id) => backend.rows.get(MAIN, table, id),
        getMany: (_, keys) => backend.rows.getMany(MAIN, keys),
        list: (_, table, query) => backend.rows.list(MAIN, table, query),
      },
      upkeep: { ...backend.upkeep, snapshot: () => backend.upkeep.snapshot(MAIN) },
    }),
  ),
  spoiled(
    'never wakes',
    ['whoever watches a tenant is woken after a commit to it'],
    signalling(() => () => () => {}),
  ),
  spoiled(
    'wakes once and never again',
    ['whoever watches a tenant is woken after a commit to it'],
    signalling((wakeups) => (tenant, wake, options) => {
      const stop = wakeups.watch(
        tenant,
        () => {
          stop()
          wake()
        },
        options,
      )
      return stop
    }),
  ),
  spoiled('wakes before the commit is there', ['whoever watches a tenant is woken after a commit to it'], (backend) => {
    const watchers = new Set<() => void>()
    return {
      ...backend,
      commit: async (batch) => {
        for (const wake of watchers) wake()
        await new Promise((resolve) => setTimeout(resolve, 1))
        return backend.commit(batch)
      },
      wakeups: {
        watch: (_, wake) => {
          watchers.add(wake)
          return () => watchers.delete(wake)
        },
      },
    }
  }),
  spoiled(
    'wakes those who have stopped',
    ['nobody is woken who does not watch'],
    signalling((wakeups) => (tenant, wake) => {
      wakeups.watch(tenant, wake)
      return () => {}
    }),
  ),
  spoiled('wakes those who watch another tenant', ['nobody is woken who does not watch'], (backend) => {
    const all = new Set<() => void>()
    return {
      ...backend,
      commit: async (batch) => {
        const outcomes = await backend.commit(batch)
        for (const wake of all) wake()
        return outcomes
      },
      wakeups: {
        watch: (_, wake) => {
          all.add(wake)
          return () => all.delete(wake)
        },
      },
    }
  }),
]
