// Bytes on disk per patch beside storing the whole document with every version.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { applyPatch, open } from '../../src/index.ts'
import { ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { document, FREE, patch } from './document.ts'

export const disk: Workload = {
  name: 'disk',
  title: 'bytes on disk per patch, SQLite',
  run: async ({ quick, folder }: Settings): Promise<Findings> => {
    const count = quick ? 1000 : 10_000
    const [ours, whole, empty] = [join(folder, 'patches.db'), join(folder, 'whole.db'), join(folder, 'empty.db')]
    {
      await using none = await open({ url: empty, durability: 'normal' })
      await none.session('bench')
      await using store = await open({ url: ours, durability: 'normal', canvas: FREE })
      await using other = await open({ url: whole, durability: 'normal' })
      const canvas = (await store.session('bench')).canvas('plan')
      const session = await other.session('bench')
      let now: unknown = document()
      await canvas.replace(now)
      for (let i = 1; i < count; i++) {
        await canvas.patch(patch(i))
        now = applyPatch(now, patch(i))
        await session.append('plan.changed', { version: i, document: now })
      }
    }
    const perPatch = (file: string) => [(statSync(file).size - statSync(empty).size) / count]
    const ratio = ratios(perPatch(ours), perPatch(whole))
    return {
      measures: [
        {
          what: `${number(count)} patches`,
          unit: 'bytes',
          ours: spread(perPatch(ours)),
          peer: spread(perPatch(whole)),
          peerName: 'documents',
          ratio,
          goal: atMost(0.5, ratio),
        },
      ],
      notes: [`document ${JSON.stringify(document()).length} bytes, patch ${JSON.stringify(patch(7)).length} bytes; files after closing`],
    }
  },
}
