// A program that takes a lease for so many milliseconds, says under which fence, and writes when it is told to: with the guard of that fence, or without. It is paused
// from outside in between, and does not notice.

import { createInterface } from 'node:readline'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { maker, put } from '../../src/conformance/material.ts'
import { MAIN } from '../../src/model/ids.ts'

const [url = '', ms = ''] = process.argv.slice(2)
const say = (word: string, value: unknown) => process.stdout.write(`${JSON.stringify([word, value])}\n`)

const backend = await postgresBackend({ url })
const make = maker(process.pid)
const [taken] = await backend.commit([make.commit(MAIN, { changes: [put('leases', 'job', { owner: 'paused' }, { grants: true })] })])
if (!taken?.ok) throw new Error('the lease could not be taken')
const fence = taken.receipts[0]?.seq ?? 0
await backend.leases.renew(MAIN, [{ id: 'job', fence }], Number(ms))
say('fence', fence)

for await (const line of createInterface(process.stdin)) {
  const guards = line === 'guarded' ? [{ kind: 'fence', table: 'leases', id: 'job', fence } as const] : []
  const [outcome] = await backend.commit([make.commit(MAIN, { guards })])
  say('wrote', outcome?.ok ? 'saved' : outcome?.refused)
}
await backend.close()
