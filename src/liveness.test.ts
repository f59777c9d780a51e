// Who is provably gone: real processes that live, are killed, are reaped or not; and what systems may say instead of an answer.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { liveness, livenessOn, type System } from './liveness.ts'
import type { ProcessMark } from './ports/environment.ts'

const self = liveness.self as ProcessMark

describe.skipIf(!existsSync('/proc/self/stat'))('with procfs (skipped where the system has none)', () => {
  const start = (command: string, ...args: readonly string[]): ChildProcess => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
  const said = async (child: ChildProcess): Promise<string> => String((await once(child.stdout as NodeJS.EventEmitter, 'data'))[0])
  const module = new URL('./liveness.ts', import.meta.url).href
  const telling = `import(${JSON.stringify(module)}).then((m) => { console.log(JSON.stringify(m.liveness.self)); setInterval(() => {}, 1e6) })`
  /** Another process of ours, with the mark it gives itself. */
  const startMarked = async (): Promise<{ readonly child: ChildProcess; readonly mark: ProcessMark }> => {
    const child = start(process.execPath, '-e', telling)
    return { child, mark: JSON.parse(await said(child)) as ProcessMark }
  }
  const kill = async (child: ChildProcess): Promise<void> => {
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  test('a process knows itself, the same each time, and is not gone', () => {
    expect(self).toMatchObject({
      pid: process.pid,
      boot: expect.stringMatching(/^[0-9a-f-]{36}$/),
      started: expect.stringMatching(/^\d+$/),
    })
    expect(self.host).toMatch(/ pid:\[\d+\]$/)
    expect(liveness.self).toBe(self)
    expect(liveness.isGone(self)).toBe(false)
  })

  test('another process is not gone while it lives, and is once it was killed and reaped', async () => {
    const { child, mark } = await startMarked()
    expect(mark).toEqual({ ...self, pid: child.pid, started: mark.started })
    expect(liveness.isGone(mark)).toBe(false)
    await kill(child)
    expect(liveness.isGone(mark)).toBe(true)
  })

  test('a process whose pid is another’s by now is gone', () => {
    expect(liveness.isGone({ ...self, started: String(Number(self.started) - 1) })).toBe(true)
  })

  test('a process on another host, in another namespace or before a boot is never known to be gone', async () => {
    const { child, mark } = await startMarked()
    await kill(child)
    expect(liveness.isGone(mark)).toBe(true)
    const [host = '', namespace = ''] = mark.host.split(' ')
    expect(liveness.isGone({ ...mark, host: `elsewhere ${namespace}` })).toBe(false)
    expect(liveness.isGone({ ...mark, host: `${host} pid:[1]` })).toBe(false)
    expect(liveness.isGone({ ...mark, boot: '00000000-0000-4000-8000-000000000000' })).toBe(false)
  })

  test('a zombie is gone: it cannot write any more', async () => {
    // The shell becomes a program that never asks after its child, which ends when there is nothing more to read.
    const parent = start('sh', '-c', 'exec 3<&0; cat <&3 >&2 & echo $!; exec sleep 60 3<&-')
    const pid = Number(await said(parent))
    const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8')
    const started = stat()
      .replace(/^.*\) /s, '')
      .split(' ')[19] as string
    const mark = { ...self, pid, started }
    expect(liveness.isGone(mark)).toBe(false)
    // As long as it is a shell it asks after its child.
    await vi.waitFor(() => expect(readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n'), 5000)
    parent.stdin?.end()
    await vi.waitFor(() => expect(stat()).toMatch(/\) Z /), 5000)
    expect(liveness.isGone(mark)).toBe(true)
  })
})

/** A machine on which one other process runs, as field by field told. */
const statOf = ({ command = 'node', state = 'S', threads = '11', started = '4711' } = {}): string =>
  `77 (${command}) ${state} 1 77 77 0 -1 4194560 1 0 0 0 5 2 0 0 20 0 ${threads} 0 ${started} 1000 200 18446744073709551615\n`

const failing = (code: string) => (): never => {
  throw Object.assign(new Error(code), { code })
}

const files: Readonly<Record<string, () => string>> = {
  '/proc/self': () => '5',
  '/proc/self/ns/pid': () => 'pid:[4026531836]',
  '/proc/self/stat': () => statOf({ command: 'self', started: '1' }),
  '/proc/sys/kernel/random/boot_id': () => 'cdfa6e55-2226-471d-abd5-8e9a9915ea9f\n',
}

function systemWith(changed: Readonly<Record<string, () => string>> = {}, rest: Partial<System> = {}): System {
  const look = (path: string): string => (changed[path] ?? files[path] ?? failing('ENOENT'))()
  return { platform: 'linux', pid: 5, hostname: () => 'box', read: look, readLink: look, probe: failing('ESRCH'), ...rest }
}

const there: ProcessMark = { host: 'box pid:[4026531836]', boot: 'cdfa6e55-2226-471d-abd5-8e9a9915ea9f', pid: 77, started: '4711' }
const gone = (stat: () => string, rest: Partial<System> = {}, mark = there): boolean =>
  livenessOn(systemWith({ '/proc/77/stat': stat }, rest)).isGone(mark)

describe('what the system says', () => {
  test('an answer of the system is a proof when the pid is absent, is another’s, or nothing of it runs', () => {
    expect(gone(() => statOf())).toBe(false)
    expect(gone(failing('ENOENT'))).toBe(true)
    expect(gone(failing('ESRCH'))).toBe(true)
    expect(gone(() => statOf({ started: '4712' }))).toBe(true)
    expect(gone(() => statOf({ state: 'Z', threads: '1' }))).toBe(true)
    expect(gone(() => statOf({ state: 'X', threads: '0' }))).toBe(true)
  })

  test.each(['node (v24) worker', ')', ') Z 1 2', 'a b) S 1 (', 'two\nlines'])(
    'an answer of the system is understood when the command is %j',
    (command) => {
      expect(gone(() => statOf({ command }))).toBe(false)
      expect(gone(() => statOf({ command, started: '4712' }))).toBe(true)
      expect(gone(() => statOf({ command, state: 'Z', threads: '1' }))).toBe(true)
    },
  )

  test.each(['EPERM', 'EACCES', 'EIO', 'EMFILE', 'EINVAL'])('an answer of the system is no proof when it is %s', (code) => {
    expect(gone(failing(code))).toBe(false)
    expect(gone(failing('ENOENT'), { probe: failing(code) })).toBe(false)
  })

  test('an answer of the system is no proof when procfs hides a process that is there', () => {
    expect(gone(failing('ENOENT'), { probe: () => {} })).toBe(false)
    expect(gone(failing('ENOENT'), { probe: failing('EPERM') })).toBe(false)
  })

  test('an answer of the system is no proof while a thread of a zombie still runs', () => {
    expect(gone(() => statOf({ state: 'Z', threads: '2' }))).toBe(false)
  })

  test.each([
    '',
    '77',
    '77 (node',
    '77 (node)',
    '77 (node) S 1 2 3',
    statOf({ started: 'x' }),
    statOf({ started: '-1' }),
    statOf({ state: '?' }),
  ])('an answer of the system is no proof when it is %j', (text) => {
    expect(gone(() => text)).toBe(false)
  })

  test.each([{ pid: 0 }, { pid: -1 }, { pid: 1.5 }, { pid: Number.NaN }, { pid: 2 ** 31 }, { started: '' }, { started: 'x' }])(
    'an answer of the system is no proof for a mark with %o',
    (part) => {
      expect(gone(failing('ENOENT'), {}, { ...there, ...part })).toBe(false)
      expect(gone(() => statOf({ started: '4712' }), {}, { ...there, ...part })).toBe(false)
    },
  )

  test.each<readonly [string, Readonly<Record<string, () => string>>, Partial<System>]>([
    ['on another system', {}, { platform: 'darwin' }],
    ['without a boot id', { '/proc/sys/kernel/random/boot_id': failing('ENOENT') }, {}],
    ['with an empty boot id', { '/proc/sys/kernel/random/boot_id': () => '\n' }, {}],
    ['without a namespace', { '/proc/self/ns/pid': failing('EACCES') }, {}],
    ['without a start', { '/proc/self/stat': () => '5 (node) S' }, {}],
    ['in a procfs of another namespace', { '/proc/self': () => '4005' }, {}],
  ])('a process %s does not know itself, and then nobody is gone', (_, changed, rest) => {
    const known = livenessOn(systemWith({ '/proc/77/stat': failing('ENOENT'), ...changed }, rest))
    expect(known.self).toBeUndefined()
    expect(known.isGone(there)).toBe(false)
    // The control: with nothing missing the same process is gone.
    expect(gone(failing('ENOENT'))).toBe(true)
  })

  test('an answer of the system about oneself is asked for late, and once', () => {
    const read = vi.fn((path: string) => (files[path] ?? failing('ENOENT'))())
    const known = livenessOn(systemWith({}, { read }))
    expect(read).not.toHaveBeenCalled()
    expect(known.self).toEqual({ host: there.host, boot: there.boot, pid: 5, started: '1' })
    const calls = read.mock.calls.length
    expect(known.self).toBe(known.self)
    expect(read).toHaveBeenCalledTimes(calls)
  })

  test('an answer that no system gives is a mistake of ours, and told', () => {
    const broken = () => gone(() => undefined as unknown as string)
    expect(broken).toThrow(TypeError)
  })
})
