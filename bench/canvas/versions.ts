// Reading any of 10,000 versions beside reading the newest one, in a process that wrote them and in one that has just opened the store.

import { join } from 'node:path'
import { open, type Store } from '../../src/index.ts'
import { median, ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { document, FREE, patch } from './document.ts'

const LOOKS = 200

export const versions: Workload = {
  name: 'versions',
  title: 'at() beside get() on SQLite',
  run: async ({ quick, rounds, folder, say }: Settings): Promise<Findings> => {
    const file = join(folder, 'versions.db')
    const count = quick ? 2000 : 10_000
    say(`a canvas of ${number(count)} versions`)
    {
      await using store = await open({ url: file, durability: 'normal', canvas: FREE })
      const canvas = await canvasOf(store)
      await canvas.replace(document())
      for (let i = 1; i < count; i++) await canvas.patch(patch(i))
    }
    const [cold, warm, newest]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < rounds; round++) {
      await using store = await open({ url: file, durability: 'normal', canvas: FREE })
      const canvas = await canvasOf(store)
      const at = (i: number) => canvas.at({ version: 1 + ((i * 7919) % count) })
      cold.push(await micros(at))
      warm.push(await micros(at))
      newest.push(await micros(() => canvas.get()))
    }
    const measure = (what: string, ours: readonly number[]) => ({
      what,
      unit: 'µs',
      ours: spread(ours),
      peer: spread(newest),
      peerName: 'get',
      ratio: ratios(ours, newest),
      goal: atMost(3, ratios(ours, newest)),
    })
    return {
      measures: [measure('any version, read before', warm), measure('any version, just opened', cold)],
      notes: [`${number(count)} versions of ${JSON.stringify(document()).length} bytes; medians of ${LOOKS} reads`],
    }
  },
}

const canvasOf = async (store: Store) => (await store.session('bench')).canvas('plan')

async function micros(read: (i: number) => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < LOOKS; i++) {
    const from = performance.now()
    await read(i)
    took.push((performance.now() - from) * 1000)
  }
  return median(took)
}
