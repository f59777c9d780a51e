// Durable appends against the floor: what our checks, guards, redaction and recovery cost on top of the bare rows.

import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { interleave, rate } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { atLeast, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { payload, TYPE } from './payload.ts'
import { RawJournal } from './raw.ts'

const CALLERS = 64

export const appendAgainstRaw: Workload = {
  name: 'append-raw',
  title: 'durable append, FULL, against raw node:sqlite',
  run: async ({ quick, rounds, folder }: Settings): Promise<Findings> => {
    await using masked = await open(join(folder, 'masked.db'))
    await using plain = await open({ url: join(folder, 'plain.db'), redact: false })
    const raw = new RawJournal(join(folder, 'raw.db'))
    const [maskedSession, plainSession] = [await masked.session('bench'), await plain.session('bench')]
    const ms = quick ? 400 : 1200
    let i = 0
    const found = await interleave(rounds, {
      masked: () => rate(CALLERS, ms, () => maskedSession.append(TYPE, payload(i++))),
      plain: () => rate(CALLERS, ms, () => plainSession.append(TYPE, payload(i++))),
      raw: () => rate(CALLERS, ms, () => raw.append(TYPE, payload(i++))),
      masked1: () => rate(1, ms / 2, () => maskedSession.append(TYPE, payload(i++))),
      raw1: () => rate(1, ms / 2, () => raw.append(TYPE, payload(i++))),
    })
    raw.close()
    const withRedaction = ratios(found.masked, found.raw)
    return {
      measures: [
        {
          what: '64 callers, redaction on',
          unit: 'ev/s',
          ours: spread(found.masked),
          peer: spread(found.raw),
          peerName: 'raw',
          ratio: withRedaction,
          goal: atLeast(0.6, withRedaction),
        },
        {
          what: '64 callers, redact: false',
          unit: 'ev/s',
          ours: spread(found.plain),
          peer: spread(found.raw),
          peerName: 'raw',
          ratio: ratios(found.plain, found.raw),
        },
        {
          what: '1 caller, redaction on',
          unit: 'ev/s',
          ours: spread(found.masked1),
          peer: spread(found.raw1),
          peerName: 'raw',
          ratio: ratios(found.masked1, found.raw1),
        },
      ],
      notes: [
        `payload ${JSON.stringify(payload(12_345)).length} bytes; ${ms} ms a turn; one session`,
        `raw: ${raw.settings}, 64 events a transaction, same columns, indexes and three SHA-256 an event, no triggers`,
      ],
    }
  },
}
