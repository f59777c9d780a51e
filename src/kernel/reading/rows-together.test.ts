import { expect, test } from 'vitest'
import { refuse } from '../../model/errors.ts'
import { MAIN, tenantId } from '../../model/ids.ts'
import type { StoredRow } from '../../model/rows.ts'
import type { RowReads } from '../../ports/rows.ts'
import { RowsTogether } from './rows-together.ts'

const key = (id: string) => ({ table: 'names' as const, id })
const row = (id: string): StoredRow => ({ id, born: 1, revision: 1, body: '{}' })

/** The calls that reach the backend. `fail` says of which row a read fails, and how. */
function watching(fail: (id: string) => unknown = () => undefined) {
  const calls: string[] = []
  const found = async (id: string) => {
    const error = fail(id)
    if (error) throw error
    return row(id)
  }
  const rows: Pick<RowReads, 'get' | 'getMany'> = {
    get: (tenant, _, id) => {
      calls.push(`${tenant}: ${id}`)
      return found(id)
    },
    getMany: (tenant, keys) => {
      calls.push(`${tenant}: ${keys.map(({ id }) => id).join(' ')}`)
      return Promise.all(keys.map(({ id }) => found(id)))
    },
  }
  return { together: new RowsTogether(rows), calls }
}

test('rows that are asked for in one tick are read together, those of each tenant apart, and a single one as before', async () => {
  const { together, calls } = watching()
  const other = tenantId('acme')
  const [a, b, c] = await Promise.all([together.read(MAIN, key('a')), together.read(MAIN, key('b')), together.read(other, key('c'))])
  expect([a?.id, b?.id, c?.id]).toEqual(['a', 'b', 'c'])
  await together.read(MAIN, key('d'))
  await together.read(MAIN, key('e'))
  expect(calls).toEqual(['main: a b', 'acme: c', 'main: d', 'main: e'])
})

test('more rows than one call takes are read in several', async () => {
  const { together, calls } = watching()
  await Promise.all(Array.from({ length: 130 }, (_, i) => together.read(MAIN, key(String(i)))))
  expect(calls.map((call) => call.split(' ').length - 1)).toEqual([64, 64, 2])
})

test('a row that cannot be read fails nobody who asked for another', async () => {
  const { together } = watching((id) => (id === 'bad' ? new Error('damaged') : undefined))
  const settled = await Promise.allSettled(['a', 'bad', 'b'].map((id) => together.read(MAIN, key(id))))
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a closed tenant refuses all of them at once', async () => {
  const { together, calls } = watching(() => refuse('TENANT_CLOSED', { tenant: MAIN, state: 'suspended' }))
  const settled = await Promise.allSettled(['a', 'b'].map((id) => together.read(MAIN, key(id))))
  expect(settled).toMatchObject([{ reason: { code: 'TENANT_CLOSED' } }, { reason: { code: 'TENANT_CLOSED' } }])
  expect(calls).toEqual(['main: a b'])
})
