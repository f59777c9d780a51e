// The manners of the command line: help, colour, pipes and Ctrl-C.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { EXIT, failureOf } from '../../src/cli/exit.ts'
import { bytes, count, span, time } from '../../src/cli/format.ts'
import { cut, displayWidth, harmless, jsonLine, padEnd } from '../../src/cli/text.ts'
import { open } from '../../src/index.ts'
import { type ErrorCode, errors, InkError } from '../../src/model/errors.ts'
import { ink, lines, smallStore, start } from './support.ts'

const commands = [
  'demo',
  'tail',
  'events',
  'sessions',
  'runs',
  'queue',
  'cron',
  'triggers',
  'processes',
  'approvals',
  'tenants',
  'verify',
  'rebuild',
  'doctor',
  'du',
  'migrate',
] as const

describe('help', () => {
  test.each(commands)('%s --help says what it does, with examples and exit codes', async (name) => {
    const { code, out, err } = await ink([name, '--help'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`Usage: inkfast ${name} `)
    expect(out).toContain(`Examples:\n  inkfast ${name}`)
    expect(out).toContain('--json')
    expect(out).toContain('Exit codes:')
  })

  test('the command without arguments shows the whole help', async () => {
    const { code, out } = await ink([])
    expect(code).toBe(0)
    for (const name of commands) expect(out).toContain(`  ${name} `)
  })

  test('--version prints the version alone', async () => {
    expect(await ink(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })
})

test('there is no colour where stdout is not a terminal', async () => {
  const { path } = await smallStore()
  for (const words of [
    ['events', path],
    ['verify', path],
    ['doctor', path],
    ['du', path],
  ]) {
    const { out, err } = await ink(words)
    expect(out + err).not.toContain('\u001b')
  }
})

test('a long list stops quietly when its reader goes away, leaves no side files, and is in order when read to its end', async () => {
  const { path } = await smallStore()
  {
    await using store = await open(path)
    const session = await store.session('long')
    await store.appendAll(
      Array.from({ length: 2000 }, (_, i) => ({ session: session.id, type: 'note.made', data: { i, text: 'x'.repeat(200) } })),
    )
  }
  const child = start(['events', path, '--first', '2000'])
  let err = ''
  child.stderr.on('data', (text) => {
    err += text
  })
  await once(child.stdout, 'data')
  child.stdout.destroy()
  await once(child, 'exit')
  expect([child.exitCode, err]).toEqual([0, ''])
  expect(existsSync(`${path}-wal`)).toBe(false)

  // More than are held in memory: the same events in the same order.
  const { out } = await ink(['events', path, '--last', '1500', '--json'])
  expect(lines(out).map((line) => JSON.parse(line).seq)).toEqual(Array.from({ length: 1500 }, (_, i) => 511 + i))
})

describe('tail', () => {
  test('tail shows the last events, then those appended by another process, and ends with 0 on Ctrl-C', async () => {
    const { path } = await smallStore()
    const child = start(['tail', path, '--json', '--last', '2'])
    const seen: number[] = []
    const until = (n: number) =>
      new Promise<void>((resolve) => {
        const look = () => seen.length >= n && resolve()
        child.stdout.on('data', look)
        look()
      })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      for (const line of lines(text)) seen.push(JSON.parse(line).seq)
    })
    await until(2)
    {
      await using store = await open(path)
      const session = await store.session('support/4711')
      await session.append('plan.changed', { steps: 10 })
      await session.append('plan.changed', { steps: 11 })
    }
    await until(4)
    child.kill('SIGINT')
    await once(child, 'close')
    expect(seen).toEqual([8, 9, 10, 11])
    expect(child.exitCode).toBe(0)
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test('tail ends by itself where the range it was given ends', async () => {
    const { path } = await smallStore()
    const { code, out } = await ink(['tail', path, '--from', '3', '--before', '6', '--json'])
    expect(code).toBe(0)
    expect(lines(out).map((line) => JSON.parse(line).seq)).toEqual([3, 4, 5])
  })
})

test('Ctrl-C ends the other commands with 130', async () => {
  const child = start(['demo', '--kills', '50'])
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  await once(child, 'close')
  expect(child.exitCode).toBe(130)
})

test('every error of the library has an exit code that means something', () => {
  for (const code of Object.keys(errors) as ErrorCode[]) {
    const { exit, error } = failureOf(new InkError(code))
    expect(exit, code).toBeGreaterThan(1)
    expect(error.code).toBe(code)
  }
  const exitOf = (code: ErrorCode, details = {}) => failureOf(new InkError(code, details)).exit
  expect(exitOf('FILE_MISSING')).toBe(EXIT.missing)
  expect(exitOf('FILE_DENIED')).toBe(EXIT.missing)
  expect(exitOf('FILE_READ_ONLY')).toBe(EXIT.missing)
  expect(exitOf('FILE_CORRUPT')).toBe(EXIT.corrupt)
  expect(exitOf('NOT_A_STORE')).toBe(EXIT.corrupt)
  expect(exitOf('FILE_BUSY')).toBe(EXIT.unavailable)
  expect(exitOf('SCHEMA_NEWER')).toBe(EXIT.unavailable)
  expect(exitOf('SCHEMA_OLDER', {})).toBe(EXIT.unavailable)
  expect(exitOf('OPTION_INVALID', { option: 'url' })).toBe(EXIT.usage)
  expect(failureOf(Object.assign(new Error('no'), { code: 'EACCES', path: 'x' })).exit).toBe(EXIT.missing)
  expect(failureOf(new TypeError('odd')).exit).toBe(EXIT.unexpected)
})

test('text is made harmless without losing anything', () => {
  const nasty = 'a\u001b[2J\u0085\u2028\u202e\u{e0041}\nz 日本 👩\u200d🚀'
  expect(harmless(nasty)).toBe('a\\u001b[2J\\u0085\\u2028\\u202e\\udb40\\udc41\\u000az 日本 👩\u200d🚀')
  expect(JSON.parse(jsonLine({ nasty }))).toEqual({ nasty })
})

test('text is measured as a terminal shows it', () => {
  expect(displayWidth('日本✅e\u0301')).toBe(7)
  expect(padEnd('日本', 6)).toBe('日本  ')
  expect(cut('日本語の', 6)).toBe('日本…')
  expect(cut('short', 5)).toBe('short')
  expect(cut('longer', 5)).toBe('long…')
})

test('numbers and times read the same everywhere', () => {
  expect([count(1234567), count(999), bytes(999), bytes(1000), bytes(999_960), bytes(5e13)]).toEqual([
    '1,234,567',
    '999',
    '999 B',
    '1.0 kB',
    '1.0 MB',
    '50.0 TB',
  ])
  expect([span(12), span(1500), span(90_000), span(7_300_000), span(3 * 86_400_000)]).toEqual(['12 ms', '1.5 s', '1 min', '2 h', '3 d'])
  expect([time(0), time(Number.MAX_SAFE_INTEGER)]).toEqual(['1970-01-01 00:00:00', '9007199254740991'])
})
