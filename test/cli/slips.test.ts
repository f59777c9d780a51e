// Slips of the pen that would otherwise read as something else.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSwitch } from '../../src/cli/terminal.ts'
import { folder, inkHere as ink, smallStore } from './support.ts'

test('a file of receipts with none in it is a slip, and no proof', async () => {
  const { path } = await smallStore()
  const file = join(folder(), 'receipts')
  for (const text of ['', '\n\n', '[]', '{"receipts":[]}']) {
    writeFileSync(file, text)
    const { code, err } = await ink(['verify', path, '--receipts', file])
    expect([text, code]).toEqual([text, 2])
    expect(err).toContain('contains no receipts')
  }
})

test('tail refuses --last together with --from', async () => {
  const { path } = await smallStore()
  const { code, err } = await ink(['tail', path, '--last', '2', '--from', '1'])
  expect([code, err]).toEqual([2, expect.stringContaining('--last or --from')])
})

test.each([
  'host=localhost user=a password=S3cr3t dbname=agents',
  'user=a host=/run/postgresql password = S3cr3t',
  'admin:S3cr3t@localhost',
  'admin:S3cr3t@localhost:5432/agents',
])('an address in another form is not taken for a file, and not repeated: %#', async (url) => {
  const { code, out, err } = await ink(['events', url])
  expect(code).toBe(2)
  expect(out + err).not.toContain('S3cr3t')
})

test('a boolean variable of the environment takes the usual words in any case', () => {
  for (const word of ['1', 'true', 'TRUE', 'Yes', 'on']) expect([word, readSwitch(word)]).toEqual([word, true])
  for (const word of [undefined, '', '0', 'false', 'NO', 'off']) expect([word, readSwitch(word)]).toEqual([word, false])
  for (const word of ['2', 'ja', 'maybe']) expect([word, readSwitch(word)]).toEqual([word, undefined])
})

test('a command follows a required database written as a word, and refuses an unclear one', async () => {
  const { path } = await smallStore()
  expect((await ink(['events', path], { INKFAST_DATABASE_REQUIRED: 'off' })).code).toBe(0)
  expect((await ink(['events', path], { INKFAST_DATABASE_REQUIRED: 'TRUE' })).code).not.toBe(0)
  const { code, err } = await ink(['events', path], { INKFAST_DATABASE_REQUIRED: 'maybe' })
  expect([code, err]).toEqual([
    2,
    expect.stringContaining("Invalid INKFAST_DATABASE_REQUIRED: expected 1, true, yes, on, 0, false, no or off, got 'maybe'"),
  ])
})
