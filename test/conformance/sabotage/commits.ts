// Damage to the one write: keys, guards, order, wholeness.

import type { TenantId } from '../../../src/model/ids.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Change, Commit, Guard, Outcome } from '../../../src/ports/commit.ts'
import { resending, type Sabotage, spoiled } from './spoil.ts'

const without =
  (kind: Guard['kind']) =>
  (commit: Commit): Commit => ({ ...commit, guards: commit.guards.filter((guard) => guard.kind !== kind) })

const changing =
  (alter: (change: Change) => readonly Change[]) =>
  (commit: Commit): Commit => ({ ...commit, changes: commit.changes.flatMap(alter) })

const answering =
  (alter: (outcomes: readonly Outcome[]) => readonly Outcome[]) =>
  (backend: Backend): Backend => ({ ...backend, commit: async (batch) => alter(await backend.commit(batch)) })

export const commitSabotages: readonly Sabotage[] = [
  spoiled(
    'ignores keys',
    [
      'a key is written once',
      'a key is bound to its body',
      'a key is remembered until its receipt is swept',
      'a commit sees those before it in its batch',
    ],
    resending(({ key: _, ...commit }) => commit),
  ),
  spoiled(
    'takes any body for the first one',
    ['a key is bound to its body'],
    resending((commit) => (commit.key ? { ...commit, key: { ...commit.key, body: '0' } } : commit)),
  ),
  spoiled('answers whoever only asks with nothing', ['a key is written once'], (backend) => ({
    ...backend,
    commit: async (batch) =>
      (await backend.commit(batch)).map((outcome, i) =>
        outcome.ok && batch[i]?.events.length === 0 ? { ...outcome, receipts: [] } : outcome,
      ),
  })),
  spoiled('makes a tenant of whoever asks', ['tenants are those that were written to, in the order of their ids'], (backend) => {
    const asked = new Set<TenantId>()
    return {
      ...backend,
      commit: (batch) => {
        for (const commit of batch) asked.add(commit.tenant)
        return backend.commit(batch)
      },
      journal: { ...backend.journal, tenants: async () => [...asked].sort() },
    }
  }),
  spoiled('looks at the guards before the key', ['a key is looked up before the guards'], (backend) => ({
    ...backend,
    commit: async (batch) => {
      const outcomes: Outcome[] = []
      for (const commit of batch) {
        const { key: _, ...bare } = commit
        // Guards are tried by a commit of nothing else.
        const [tried] = commit.key ? await backend.commit([{ ...bare, events: [], changes: [] }]) : []
        outcomes.push(tried && !tried.ok ? tried : ((await backend.commit([commit]))[0] as Outcome))
      }
      return outcomes
    },
  })),
  spoiled(
    'says that a repetition is new',
    ['a key is written once', 'a commit whose reply was lost is written once'],
    answering((outcomes) => outcomes.map((outcome) => (outcome.ok ? { ...outcome, repeated: false } : outcome))),
  ),
  spoiled(
    'ignores row guards',
    [
      'a commit is applied whole or not at all',
      'a refused commit spoils no other',
      'a commit sees those before it in its batch',
      'a commit that is guarded by a row is refused when the row is at another revision',
    ],
    resending(without('row')),
  ),
  spoiled(
    'ignores quiet',
    ['a commit that is guarded by a quiet session is refused when someone wrote to it', 'a commit sees those before it in its batch'],
    resending(without('quiet')),
  ),
  spoiled(
    'lets any write disturb a quiet session',
    ['a commit that is guarded by a quiet session is refused when someone wrote to it'],
    (backend) => ({
      ...backend,
      commit: async (batch) => {
        const outcomes: Outcome[] = []
        for (const commit of batch) {
          const { seq } = await backend.journal.head(commit.tenant)
          const disturbed = commit.guards.find((guard) => guard.kind === 'quiet' && guard.after < seq)
          if (disturbed) outcomes.push({ ok: false, refused: disturbed, found: seq, now: 0 })
          else outcomes.push((await backend.commit([commit]))[0] as Outcome)
        }
        return outcomes
      },
    }),
  ),
  spoiled('ignores fences', ['a commit that is guarded by a fence is refused when another one is the newest'], resending(without('fence'))),
  spoiled(
    'grants with every put',
    [
      'a commit that is guarded by a fence is refused when another one is the newest',
      'a row is stamped with the seqs of its first and its last event',
    ],
    resending(changing((change) => [change.kind === 'put' && change.table === 'leases' ? { ...change, grants: true } : change])),
  ),
  spoiled(
    'ignores since',
    ['a commit whose reply was lost is written once', 'several handles are one store'],
    resending(({ since: _, ...commit }) => commit),
  ),
  spoiled(
    'looks for an earlier sending from the beginning',
    ['an earlier sending is looked for beyond the named seq alone'],
    resending((commit) => (commit.since !== undefined ? { ...commit, since: 0 } : commit)),
  ),
  spoiled('takes everything resent for already written', ['a commit whose reply was lost is written once'], (backend) => ({
    ...backend,
    commit: async (batch) => {
      const outcomes = await backend.commit(
        batch.map((commit) => (commit.since !== undefined ? { ...commit, events: [], changes: [], guards: [] } : commit)),
      )
      return outcomes.map((outcome, i) => (batch[i]?.since !== undefined && outcome.ok ? { ...outcome, repeated: true } : outcome))
    },
  })),
  spoiled(
    'writes the events of a refused commit',
    ['a commit is applied whole or not at all', 'a refused commit spoils no other'],
    afterRefusal(({ key: _, ...commit }) => ({ ...commit, guards: [], changes: [] })),
  ),
  spoiled(
    'applies the rows of a refused commit',
    ['a commit is applied whole or not at all', 'a refused commit spoils no other'],
    afterRefusal(({ key: _, ...commit }) => ({ ...commit, guards: [], events: [] })),
  ),
  spoiled('keeps the key of a refused commit', ['a commit is applied whole or not at all'], (backend) => {
    const taken = new Set<string>()
    return {
      ...backend,
      commit: async (batch) => {
        const outcomes = await backend.commit(batch)
        return outcomes.map((outcome, i) => {
          const key = batch[i]?.key && Buffer.from(batch[i].key.digest).toString('hex')
          if (!key) return outcome
          if (!outcome.ok) taken.add(key)
          else if (taken.has(key)) return { ok: false, refused: 'key', found: { seq: 0, erased: false }, now: outcome.now }
          return outcome
        })
      },
    }
  }),
  spoiled(
    'looks at the first guard alone',
    ['a commit is applied whole or not at all'],
    resending((commit) => ({ ...commit, guards: commit.guards.slice(0, 1) })),
  ),
  spoiled(
    'puts no rows',
    ['a commit is applied whole or not at all', 'a commit sees those before it in its batch'],
    resending(changing((change) => (change.kind === 'put' ? [] : [change]))),
  ),
  spoiled(
    'answers in another order',
    ['outcomes stand in the order of the batch'],
    answering((outcomes) => outcomes.toReversed()),
  ),
  spoiled(
    'answers an empty batch with something',
    ['outcomes stand in the order of the batch'],
    answering((outcomes) => (outcomes.length === 0 ? [{ ok: true, receipts: [], repeated: false, now: 0 }] : outcomes)),
  ),
  spoiled('takes no more than a hundred of a batch', ['outcomes stand in the order of the batch'], (backend) => ({
    ...backend,
    commit: (batch) => backend.commit(batch.slice(0, 100)),
  })),
  spoiled('gives up a batch at its first refusal', ['a refused commit spoils no other'], (backend) => ({
    ...backend,
    commit: async (batch) => {
      const outcomes: Outcome[] = []
      for (const commit of batch) {
        const last = outcomes.at(-1)
        outcomes.push(last && !last.ok ? last : ((await backend.commit([commit]))[0] as Outcome))
      }
      return outcomes
    },
  })),
  spoiled('looks at the rows as they were before the batch', ['a commit sees those before it in its batch'], (backend) => ({
    ...backend,
    commit: async (batch) => {
      const early = await Promise.all(batch.map((commit) => staleGuards(backend, commit)))
      return backend.commit(early)
    },
  })),
  spoiled(
    'ignores erasures',
    ['an erased payload is gone with its salt', 'a key is bound to its body', 'erasing leaves everything but payload and salt'],
    resending(changing((change) => (change.kind === 'erase' ? [] : [change]))),
  ),
  spoiled(
    'ignores removals',
    ['a row is kept as it was put until it is removed', 'a commit that is guarded by a row is refused when the row is at another revision'],
    resending(changing((change) => (change.kind === 'remove' ? [] : [change]))),
  ),
  spoiled(
    'cuts long payloads',
    ['an event is kept as it was sent'],
    resending((commit) => ({
      ...commit,
      events: commit.events.map((event) => ({ ...event, payload: event.payload.slice(0, 65_536) })),
    })),
  ),
  spoiled(
    'writes payloads anew',
    ['an event is kept as it was sent'],
    resending((commit) => ({
      ...commit,
      events: commit.events.map((event) => ({ ...event, payload: JSON.stringify(JSON.parse(event.payload)) })),
    })),
  ),
  spoiled(
    'drops who did it',
    ['an event is kept as it was sent'],
    resending((commit) => ({ ...commit, events: commit.events.map((event) => ({ ...event, actor: '' })) })),
  ),
  spoiled(
    'remembers keys for all tenants alike',
    ['keys of two tenants never meet', 'what one tenant has another neither sees nor touches'],
    (backend) => {
      const seen = new Map<string, Outcome>()
      return {
        ...backend,
        commit: async (batch) => {
          const outcomes: Outcome[] = []
          for (const commit of batch) {
            const name = commit.key && Buffer.from(commit.key.digest).toString('hex')
            const known = name === undefined ? undefined : seen.get(name)
            const outcome = known?.ok ? { ...known, repeated: true } : ((await backend.commit([commit]))[0] as Outcome)
            if (name !== undefined && outcome.ok) seen.set(name, outcome)
            outcomes.push(outcome)
          }
          return outcomes
        },
      }
    },
  ),
]

function afterRefusal(rest: (commit: Commit) => Commit): (backend: Backend) => Backend {
  return (backend) => ({
    ...backend,
    commit: async (batch) => {
      const outcomes = await backend.commit(batch).catch(async (error: unknown) => {
        await backend.commit(batch.map(rest))
        throw error
      })
      const half = batch.filter((_, i) => stoodInTheWay(outcomes[i])).map(rest)
      if (half.length > 0) await backend.commit(half)
      return outcomes
    },
  })
}

const stoodInTheWay = (outcome: Outcome | undefined): boolean =>
  outcome !== undefined && !outcome.ok && (typeof outcome.refused === 'object' || outcome.refused === 'failed')

async function staleGuards(backend: Backend, commit: Commit): Promise<Commit> {
  const guards: Guard[] = []
  for (const guard of commit.guards) {
    const held = guard.kind === 'row' && ((await backend.rows.get(commit.tenant, guard.table, guard.id))?.revision ?? 0) === guard.revision
    if (!held) guards.push(guard)
  }
  return { ...commit, guards }
}
