// Each taking of a lease records how the holder before ended.

import { describe, expect, test } from 'vitest'
import { TapeLines } from '../../src/cli/runs/tape-lines.ts'
import { MAIN } from '../../src/conformance/material.ts'
import type { Run, Store } from '../../src/index.ts'
import type { LeaseEnd } from '../../src/model/lease.ts'
import { limits } from '../../src/model/limits.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { expectSound, later } from '../support/engines.ts'
import { rowsBy } from '../support/row-reads.ts'
import { type Place, placeOn } from './crashing-backend.ts'

async function opened(place: Omit<Place, 'world'>, around = (backend: Backend) => backend): Promise<Store> {
  const store = await place.open(around(await place.backend()))
  later(() => store.close())
  return store
}

/** The leases that were taken for a run, and the lines in which its tape shows that. */
async function takingsOf(run: Run): Promise<{ readonly ends: readonly (LeaseEnd | undefined)[]; readonly shown: readonly string[] }> {
  const lines = new TapeLines(new Map())
  const [ends, shown]: [(LeaseEnd | undefined)[], string[]] = [[], []]
  for await (const event of run.tape()) {
    const cells = lines.cells(event)
    if (event.type === 'lease.taken') ends.push((event.data as { readonly previous?: LeaseEnd }).previous)
    if (event.type === 'run.started') shown.push((cells?.at(-1) ?? '').replace(/^by .*, fence \d+/, ''))
  }
  return { ends, shown }
}

/** Shows the holder of every lease as a process of this machine that does not exist. */
const withDeadHolders = (backend: Backend): Backend => ({
  ...backend,
  rows: rowsBy(backend.rows, async (tenant, table, id) => {
    const row = await backend.rows.get(tenant, table, id)
    return row && table === 'leases' ? { ...row, body: row.body.replace(/"pid":\d+/, '"pid":4194305') } : row
  }),
})

describe.each(['memory', 'sqlite', 'postgres'] as const)('on %s', (engine) => {
  test('lease.taken says that the holder before released the lease, and under which fence it had held it', async () => {
    const store = await opened(await placeOn(engine))
    const session = await store.session('s')
    const first = await session.run('r')
    await first.close()
    const second = await session.run('r')
    expect(await takingsOf(second)).toEqual({
      ends: [undefined, { why: 'released', fence: first.fence }],
      shown: ['', `, after fence ${first.fence} was released`],
    })
    await second.finish()
    await expectSound(store)
  })

  test('lease.taken says that the lease of the holder before lapsed, and when it was last renewed', async () => {
    const place = await placeOn(engine)
    const backend = await place.backend()
    later(() => backend.close())
    const [late, next] = [await opened(place), await opened(place)]
    const { fence } = await (await late.session('s')).run('r')
    const [taken] = (await late.page({ types: ['lease.taken'] })).items
    const { leases } = await backend.leases.renew(MAIN, [{ id: taken?.subject ?? '', fence }], limits.leaseMs)
    await place.pass(100_000)
    const run = await (await next.session('s')).run('r')
    const { ends, shown } = await takingsOf(run)
    const { until = 0 } = leases[0] ?? {}
    expect(ends).toEqual([undefined, { why: 'lapsed', fence, until, renewedAt: until - limits.leaseMs }])
    expect(shown).toEqual(['', expect.stringMatching(`^, after fence ${fence} lapsed, last renewed at `)])
    await run.finish()
    await expectSound(next)
  })

  test.skipIf(process.platform !== 'linux')('lease.taken says that the process of the holder before was gone', async () => {
    const place = await placeOn(engine)
    const [dead, next] = [await opened(place), await opened(place, withDeadHolders)]
    const { fence } = await (await dead.session('s')).run('r')
    const run = await (await next.session('s')).run('r')
    const { ends, shown } = await takingsOf(run)
    expect(ends).toEqual([undefined, { why: 'gone', fence, until: expect.any(Number), renewedAt: expect.any(Number) }])
    expect(shown).toEqual(['', expect.stringMatching(`^, after fence ${fence} was left by a dead process, last renewed at `)])
    await run.finish()
    await expectSound(next)
  })

  test.skipIf(process.platform !== 'linux')('a session lease displaces a holder whose process is gone, before its time', async () => {
    const place = await placeOn(engine)
    const [dead, next] = [await opened(place), await opened(place, withDeadHolders)]
    const { fence } = await (await dead.session('s')).lease({ ttl: '1h' })
    const session = await next.session('s')
    const lease = await session.lease()
    expect(lease.displaced).toEqual({ owner: expect.any(String), fence, lapsedAt: expect.any(Number) })
    await lease.release()
    await expectSound(next)
  })
})
