// The export: what an auditor gets, checked by us and by the independent verifier, and what either says when a byte of it is another.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type ExportReport, type Store, verifyApprovals } from '../../src/index.ts'
import { askedDigest } from '../../src/model/approval.ts'
import { EXPORT_GENESIS, lastLine, recordLine } from '../../src/model/approval-export.ts'
import { canonical } from '../../src/model/canonical.ts'
import { codeOf, engines, expectSound, tempFile } from '../support/engines.ts'
import { LONG } from '../support/rounds.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const BITS = [1, 0x20, 0x80]
const vectors = new URL('../vectors/approvals-v1.ndjson', import.meta.url)
const verifier = new URL('../../verifier/', import.meta.url).pathname

const exportOf = async (store: Store, options?: Parameters<Store['approvals']['export']>[0]): Promise<string[]> => {
  const lines: string[] = []
  for await (const line of store.approvals.export(options)) lines.push(line)
  return lines
}
const fileOf = (lines: readonly string[]): Uint8Array => Buffer.from(lines.map((line) => `${line}\n`).join(''))
const recordsOf = (lines: readonly string[]) => lines.slice(0, -1).map((line) => JSON.parse(line).record)

/** A file as whoever checks it reads it: what ends in a line feed, and what is left. */
function linesOf(file: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let from = 0; from < file.length; ) {
    const end = file.indexOf(10, from)
    lines.push(file.subarray(from, end < 0 ? file.length : end))
    from = end < 0 ? file.length : end + 1
  }
  return lines
}

/** What the independent verifier says of each of these files: the line that is wrong, or 0. */
function otherVerdicts(files: readonly Uint8Array[]): readonly number[] {
  const program = `
import sys, json, io, base64
sys.path.insert(0, ${JSON.stringify(verifier)})
sys.dont_write_bytecode = True
import inkfast_verify as v
def verdict(data):
    file = io.BytesIO(data)
    return v.read_approvals(file.readline(), file).get("line", 0)
print(json.dumps([verdict(base64.b64decode(one)) for one in json.load(sys.stdin)]))`
  const input = JSON.stringify(files.map((file) => Buffer.from(file).toString('base64')))
  const { stdout, stderr } = spawnSync('python3', ['-c', program], { encoding: 'utf8', input, maxBuffer: 1 << 26 })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const lineOf = ({ intact, brokenAt = 0 }: ExportReport): number => (intact ? 0 : brokenAt)

async function some(store: Store): Promise<void> {
  const session = await store.session('support/4711')
  const first = await store
    .as('agent_7')
    .approvals.request({ subjectType: 'tool', subject: 'deploy', data: { to: 'ö€😀', n: 1e21 }, session: session.id })
  await store.approvals.delivered(first.id, { channel: 'mail', ref: '<1@h>' })
  await store.approvals.seen(first.id, { by: 'user/ada' })
  await store.approvals.decide(first.id, { decision: 'approve', by: 'user/grace', note: 'ok\n\u2028', scope: 'session' })
  await store.approvals.request({ subjectType: 'tool', subject: 'deploy', data: { to: 'ö€😀', n: 1e21 }, session: session.id })
  await store.approvals.request({
    subject: 'large',
    data: { text: 'x'.repeat(40_000) },
    risk: 'critical',
    deciders: ['user/ada'],
    within: '1h',
  })
}

test('a filtered export says so, and does not match without its filter', async () => {
  const records = [{ id: '1', state: 'approved' }]
  const { line, chain } = recordLine(sha256, 1, EXPORT_GENESIS, records[0] as object)
  const last = lastLine(sha256, 1, chain, { state: 'approved', after: 3 })
  const report = await verifyApprovals([line, last])
  expect(report).toMatchObject({ intact: true, records: 1, filter: { state: 'approved', after: 3 } })
  expect(report.chain).not.toBe(chain)
  const { filter: _, ...stripped } = JSON.parse(last)
  for (const other of [stripped, { ...stripped, filter: { state: 'approved' } }, { ...stripped, filter: {} }, { ...stripped, filter: [1] }])
    expect(await verifyApprovals([line, canonical(other)])).toMatchObject({ intact: false, brokenAt: 2 })
  expect(otherVerdicts([fileOf([line, last]), fileOf([line, canonical(stripped)])])).toEqual([0, 2])
})

describe.each(engines)('approvals of a filter on $name', (engine) => {
  test('approvals are listed and exported by subject, key, digest, asker, decider and time', async () => {
    const store = await engine.open()
    const ask = (subject: string, key: string, by: string) => store.as(by).approvals.request({ subject, key, data: { key } })
    const one = await ask('deploy', 'k1', 'agent/1')
    const two = await ask('deploy', 'k2', 'agent/2')
    const three = await ask('delete', 'k3', 'agent/1')
    await store.approvals.decide(one.id, { decision: 'approve', by: 'user/grace' })
    await store.approvals.decide(three.id, { decision: 'deny', by: 'user/ada' })
    const after = three.askedAt + 1
    for (const [filter, expected] of [
      [{ subject: 'deploy' }, [two, one]],
      [{ subject: 'deploy', askedBy: 'agent/2' }, [two]],
      [{ key: 'k3' }, [three]],
      [{ key: 'k3', state: 'pending' }, []],
      [{ digest: two.digest as string }, [two]],
      [{ askedBy: 'agent/1' }, [three, one]],
      [{ decidedBy: 'user/grace' }, [one]],
      [{ since: one.askedAt, until: new Date(after) }, [three, two, one]],
      [{ since: after }, []],
    ] as const) {
      const { items } = await store.approvals.list(filter)
      expect(items.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
      const lines = await exportOf(store, filter)
      expect(recordsOf(lines).map(({ id }) => id)).toEqual(expected.map(({ id }) => id).toReversed())
      const report = await verifyApprovals(lines)
      expect(report).toMatchObject({ intact: true, records: expected.length })
      expect(Object.keys(report.filter ?? {}).sort()).toEqual(Object.keys(filter).sort())
    }
    expect((await verifyApprovals(await exportOf(store))).filter).toBeUndefined()
    for (const wrong of [{ since: -1 }, { until: new Date(Number.NaN) }, { subject: 5 as never }])
      expect(await codeOf(store.approvals.list(wrong))).toBe('OPTION_INVALID')
    await expectSound(store)
  })
})

describe.each(engines)('an export on $name', (engine) => {
  test('an export of approvals has a line for each approval with all that is known of it, and verifies here and elsewhere', async () => {
    const store = await engine.open()
    await some(store)
    const lines = await exportOf(store)
    const { items } = await store.approvals.list()
    const records = recordsOf(lines)
    expect(records.map(({ tenant: _, seq: __, revision: ___, ...row }) => row)).toEqual([...items].reverse())
    const [permit] = (await store.approvals.permits.list()).items
    expect(records).toMatchObject([
      { tenant: 'main', askedBy: 'agent_7', decidedBy: 'user/grace', note: 'ok\n\u2028', grants: permit?.id, seen: [{ by: 'user/ada' }] },
      { state: 'approved', permit: permit?.id, decidedBy: 'user/grace' },
      { state: 'pending', blob: { digest: expect.any(String), bytes: expect.any(Number) }, risk: 'critical', expires: expect.any(Number) },
    ])
    for (const { seq, id } of records)
      for await (const event of store.events({ subject: id, limit: 1 }))
        expect([event.seq, event.type]).toEqual([seq, 'approval.requested'])
    const { data, digest, subject, subjectType } = records[0]
    expect(digest).toBe(askedDigest(sha256, { data, subject, subjectType }))
    expect(lines[0]).toContain('"prev":"0000000000000000000000000000000000000000000000000000000000000000"')

    const report = await verifyApprovals(lines)
    expect(report).toEqual({ intact: true, records: 3, chain: JSON.parse(lines.at(-1) as string).chain_sha256 })
    expect(await verifyApprovals(linesOf(fileOf(lines)), { chain: report.chain })).toEqual(report)
    const path = tempFile('approvals.ndjson')
    writeFileSync(path, fileOf(lines))
    const other = spawnSync('python3', [`${verifier}inkfast_verify.py`, path, '--chain', report.chain, '--json'], { encoding: 'utf8' })
    expect(JSON.parse(other.stdout)).toMatchObject({ intact: true, records: 3, chain: report.chain })
    await expectSound(store)
  })

  test('an export of approvals is narrowed by state and by place, each with a chain of its own; one of nothing has a last line', async () => {
    const store = await engine.open()
    expect(await exportOf(store)).toEqual([lastLine(sha256, 0, EXPORT_GENESIS)])
    await some(store)
    const approved = await exportOf(store, { state: 'approved' })
    const [first, second] = recordsOf(approved)
    expect(recordsOf(approved)).toHaveLength(2)
    expect(recordsOf(await exportOf(store, { after: first.seq }))).toHaveLength(2)
    expect(recordsOf(await exportOf(store, { after: first.seq, state: 'approved' }))).toEqual([second])
    for (const options of [{}, { state: 'approved' }, { after: first.seq }, { state: 'denied' }] as const)
      expect((await verifyApprovals(await exportOf(store, options))).intact).toBe(true)
    expect(await codeOf(exportOf(store, { state: 'asleep' as never }))).toBe('RANGE_INVALID')
    expect(await codeOf(exportOf(store, { after: -1 }))).toBe('RANGE_INVALID')
    expect(await exportOf(store.tenant('acme'))).toEqual([lastLine(sha256, 0, EXPORT_GENESIS)])
  })
})

test('an export of more than a page of approvals has them in order, each once', async () => {
  const store = await engines[0]?.open()
  if (!store) throw new Error('there is an engine')
  for (let i = 0; i < 250; i++) await store.approvals.request({ subject: `do ${i}` })
  const lines = await exportOf(store)
  expect(recordsOf(lines).map(({ subject }) => subject)).toEqual(Array.from({ length: 250 }, (_, i) => `do ${i}`))
  expect(await verifyApprovals(lines)).toMatchObject({ intact: true, records: 250 })
})

describe('the vectors', () => {
  const file = readFileSync(vectors)
  const lines = file.toString('utf8').trimEnd().split('\n')

  test('the vectors of approvals were made by another implementation, and are what we write and find intact', async () => {
    expect(createHash('sha256').update(file).digest('hex')).toBe('97ace1f3e399978e563f96906edfe5a609ff4299ee576dce223d040a3763a822')
    let chain = EXPORT_GENESIS
    for (const [i, record] of recordsOf(lines).entries()) {
      const made = recordLine(sha256, i + 1, chain, record)
      expect(made.line).toBe(lines[i])
      chain = made.chain
    }
    expect(lastLine(sha256, lines.length - 1, chain)).toBe(lines.at(-1))
    expect(await verifyApprovals(linesOf(file))).toEqual({ intact: true, records: 12, chain })
    expect(otherVerdicts([file, file.subarray(0, -1)])).toEqual([0, 0])
  })

  test('the vectors of approvals with any byte changed are found broken in its line, here and elsewhere', async () => {
    const files: Uint8Array[] = []
    const found: number[] = []
    for (let i = 0; i < file.length; i++) {
      const line = file.subarray(0, i).filter((byte) => byte === 10).length + 1
      // Every byte in a short run, every byte three times in a long one.
      for (const bit of LONG ? BITS : [BITS[i % BITS.length] as number]) {
        const changed = new Uint8Array(file)
        changed[i] = (changed[i] as number) ^ bit
        expect(lineOf(await verifyApprovals(linesOf(changed))), `byte ${i} xor ${bit}`).toBe(line)
        if ((i + bit) % 13 !== 0) continue
        files.push(changed)
        found.push(line)
      }
    }
    expect(otherVerdicts(files)).toEqual(found)
  })

  test('the vectors of approvals with lines dropped, swapped, said twice, put in or cut off are found broken where that was', async () => {
    const cases: [string, readonly string[], number][] = []
    for (const [i, line] of lines.entries()) {
      cases.push([`without ${i + 1}`, lines.toSpliced(i, 1), i + 1])
      cases.push([`${i + 1} twice`, lines.toSpliced(i, 0, line), i + 2])
      cases.push([`cut before ${i + 1}`, lines.slice(0, i), i + 1])
      cases.push([`an empty line before ${i + 1}`, lines.toSpliced(i, 0, ''), i + 1])
      if (i + 1 < lines.length) cases.push([`${i + 1} and the next swapped`, lines.toSpliced(i, 2, lines[i + 1] as string, line), i + 1])
    }
    const [first = '', last = ''] = [lines[0], lines.at(-1)]
    const with_ = (line: string, more: object) => canonical({ ...JSON.parse(line), ...more })
    cases.push(['a member more', lines.with(0, with_(first, { more: 1 })), 1])
    cases.push(['another schema', lines.with(0, with_(first, { schema: 'inkfast/approvals/2' })), 1])
    cases.push(['white space', lines.with(0, first.replace(',', ', ')), 1])
    cases.push(['a carriage return', lines.with(0, `${first}\r`), 1])
    cases.push(['a byte order mark', lines.with(0, `\ufeff${first}`), 1])
    cases.push(['a key twice', lines.with(0, first.replace('"record":', '"record":1,"record":')), 1])
    cases.push(['another count', lines.with(-1, with_(last, { count: 11 })), lines.length])
    cases.push(['a count as text', lines.with(-1, with_(last, { count: '12' })), lines.length])
    cases.push(['no object', lines.with(3, '[]'), 4])
    for (const [name, changed, line] of cases) expect(lineOf(await verifyApprovals(changed)), name).toBe(line)
    expect(otherVerdicts(cases.map(([, changed]) => fileOf(changed)))).toEqual(cases.map(([, , line]) => line))
  })

  test('the vectors of approvals written anew as a whole are sound in themselves, and not what was kept elsewhere', async () => {
    const { chain } = await verifyApprovals(lines)
    const records = recordsOf(lines).slice(1)
    let [last, anew] = [EXPORT_GENESIS, [] as string[]]
    for (const [i, record] of records.entries()) {
      const made = recordLine(sha256, i + 1, last, record)
      last = made.chain
      anew.push(made.line)
    }
    anew = [...anew, lastLine(sha256, records.length, last)]
    expect(await verifyApprovals(anew)).toMatchObject({ intact: true })
    expect(await verifyApprovals(anew, { chain })).toMatchObject({
      intact: false,
      brokenAt: anew.length,
      reason: expect.stringContaining('not the expected one'),
    })
  })
})
