// Patches per second beside raw appends of the same bytes: what applying, measuring, snapshots and the row cost.

import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { interleave, rate } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import type { Findings, Settings, Workload } from '../lib/workload.ts'
import { document, FREE, patch } from './document.ts'

const CALLERS = 64

export const patches: Workload = {
  name: 'patches',
  title: 'patches of canvases on SQLite, FULL, beside appends of the same bytes',
  run: async ({ quick, rounds, folder }: Settings): Promise<Findings> => {
    await using store = await open({ url: join(folder, 'canvas.db'), canvas: FREE })
    await using raw = await open(join(folder, 'append.db'))
    const [session, appender] = [await store.session('bench'), await raw.session('bench')]
    const canvases = Array.from({ length: CALLERS }, (_, caller) => session.canvas(`c${caller}`))
    for (const one of canvases) await one.replace(document())
    const shared = session.canvas('shared')
    await shared.replace(document())
    const ms = quick ? 400 : 1200
    let i = 0
    const append = () => appender.append('note.taken', { version: i, ops: patch(i++), bytes: 4000 })
    const found = await interleave(rounds, {
      ours1: () => rate(1, ms, () => (canvases[0] as (typeof canvases)[number]).patch(patch(i++))),
      raw1: () => rate(1, ms, append),
      ours64: () => rate(CALLERS, ms, (caller) => (canvases[caller] as (typeof canvases)[number]).patch(patch(i++))),
      shared64: () => rate(CALLERS, ms, () => shared.patch(patch(i++))),
      raw64: () => rate(CALLERS, ms, append),
    })
    const beside = (what: string, ours: readonly number[], peer: readonly number[]) => ({
      what,
      unit: 'patches/s',
      ours: spread(ours),
      peer: spread(peer),
      peerName: 'append',
      ratio: ratios(ours, peer),
    })
    return {
      measures: [
        beside('1 caller', found.ours1, found.raw1),
        beside('64 callers, a canvas each', found.ours64, found.raw64),
        beside('64 callers, one canvas', found.shared64, found.raw64),
      ],
      notes: [`document ${JSON.stringify(document()).length} bytes, patch ${JSON.stringify(patch(7)).length} bytes; ${ms} ms a turn`],
    }
  },
}
