// Damage to the word index and to searching it.

import type { Backend } from '../../../src/ports/backend.ts'
import type { TextQuery, Texts } from '../../../src/ports/texts.ts'
import { resending, type Sabotage, spoiled } from './spoil.ts'

const follows = 'the word index follows the rows in the same commit'
const scores = 'a search scores as the port says, filters before it cuts, and orders by score and age'
const near = 'neighbours are the rows before and after in a thread'

const texts =
  (alter: (texts: Texts) => Partial<Texts>) =>
  (backend: Backend): Backend => ({ ...backend, texts: { ...backend.texts, ...alter(backend.texts) } })

const asking = (alter: (query: TextQuery) => TextQuery) =>
  texts(({ search }) => ({ search: (tenant, table, query) => search(tenant, table, alter(query)) }))

export const textSabotages: readonly Sabotage[] = [
  spoiled(
    'does not index texts',
    [follows],
    resending((commit) => ({
      ...commit,
      changes: commit.changes.map((change) =>
        change.kind === 'put' && change.table === 'memory' ? { ...change, columns: [...change.columns.slice(0, -1), null] } : change,
      ),
    })),
  ),
  spoiled(
    'counts one row too many',
    [follows],
    texts(({ statistics }) => ({
      statistics: async (...given) => {
        const counts = await statistics(...given)
        return { ...counts, rows: counts.rows + 1 }
      },
    })),
  ),
  spoiled(
    'searches without its filter',
    [scores],
    asking((query) => ({ ...query, filter: {} })),
  ),
  spoiled(
    'filters after it cut',
    [scores],
    texts(({ search }) => ({
      search: async (tenant, table, query) => {
        const best = await search(tenant, table, { ...query, filter: {} })
        const passing = await search(tenant, table, { ...query, limit: 1000 })
        return best.filter(({ row }) => passing.some((other) => other.row.id === row.id))
      },
    })),
  ),
  spoiled(
    'forgets the tags',
    [scores],
    asking((query) => ({ ...query, tagWeight: 0 })),
  ),
  spoiled(
    'orders equal scores by the newest',
    [scores],
    texts(({ search }) => ({
      search: async (...given) => [...(await search(...given))].sort((a, b) => b.score - a.score || b.row.born - a.row.born),
    })),
  ),
  spoiled(
    'expands a prefix without its limit',
    [scores],
    texts(({ statistics }) => ({ statistics: (tenant, table, query) => statistics(tenant, table, { ...query, limit: 100 }) })),
  ),
  spoiled(
    'takes each beginning for a prefix',
    [scores],
    texts(({ statistics }) => ({
      statistics: (tenant, table, { beginnings = [], prefixes = [], ...query }) =>
        statistics(tenant, table, { ...query, prefixes: [...prefixes, ...beginnings] }),
    })),
  ),
  spoiled(
    'leaves one neighbour out',
    [near],
    texts(({ around }) => ({ around: (tenant, table, places, span) => around(tenant, table, places, span - 1) })),
  ),
  spoiled(
    'finds a place among the neighbours of another',
    [near],
    texts(({ around }) => ({
      around: async (tenant, table, places, span) => [
        ...(await around(tenant, table, places.slice(1), span)),
        ...(await around(tenant, table, places.slice(0, 1), span)),
      ],
    })),
  ),
]
