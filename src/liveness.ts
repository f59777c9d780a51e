// Identifies this process, and proves from Linux procfs that another one on the same machine is gone. On other systems no process is ever
// proven gone. A wrong "gone" would take a lease from a working process, so any doubt means no.

import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Liveness, ProcessMark } from './ports/environment.ts'

/** Calls to the operating system. Each throws the system's own error if there is no answer. */
export interface System {
  readonly platform: string
  readonly pid: number
  hostname(): string
  read(path: string): string
  readLink(path: string): string
  /** Returns if the pid exists, as `kill` with signal 0 does. */
  probe(pid: number): void
}

const thisSystem: System = {
  platform: process.platform,
  pid: process.pid,
  hostname,
  read: (path) => readFileSync(path, 'utf8'),
  readLink: (path) => readlinkSync(path),
  probe: (pid) => void process.kill(pid, 0),
}

export function livenessOn(system: System): Liveness {
  let known: { readonly mark: ProcessMark | undefined } | undefined
  const self = (): ProcessMark | undefined => {
    known ??= { mark: system.platform === 'linux' ? markOfSelf(system) : undefined }
    return known.mark
  }
  return {
    get self() {
      return self()
    },
    isGone: (other) => {
      const own = self()
      if (!own || other.host !== own.host || other.boot !== own.boot || !isMark(other)) return false
      const stat = answerOf(() => system.read(`/proc/${other.pid}/stat`))
      if ('code' in stat) return isAbsent(stat.code) && hasNoProcess(system, other.pid)
      const found = parseStat(stat.value)
      return found !== undefined && (found.started !== other.started || found.ended)
    },
  }
}

export const liveness = livenessOn(thisSystem)

interface Stat {
  readonly started: string
  /** A zombie: nothing of it runs any more, and its parent has not yet collected it. */
  readonly ended: boolean
}

function markOfSelf(system: System): ProcessMark | undefined {
  const read = answerOf(() => ({
    own: system.readLink('/proc/self'),
    boot: system.read('/proc/sys/kernel/random/boot_id').trim(),
    stat: system.read('/proc/self/stat'),
    // Containers may share a host name, and each numbers its pids from one.
    host: `${system.hostname()} ${system.readLink('/proc/self/ns/pid')}`,
  }))
  if ('code' in read) return undefined
  const { own, boot, stat, host } = read.value
  const started = parseStat(stat)?.started
  // A procfs of another pid namespace knows all processes under other numbers.
  if (own !== String(system.pid) || !/^[0-9a-f-]{36}$/.test(boot) || started === undefined) return undefined
  return { host, boot, pid: system.pid, started }
}

/**
 * Parses the fields behind the command, which is in parentheses and may contain some itself. Of all fields, state is the 3rd, the thread
 * count the 20th, the start in ticks since boot the 22nd.
 */
function parseStat(text: string): Stat | undefined {
  const fields = text
    .slice(text.lastIndexOf(')') + 1)
    .trim()
    .split(' ')
  const [state, threads, started] = [fields[0], fields[17], fields[19]]
  if (!text.includes(')') || !/^[A-Za-z]$/.test(state ?? '') || !isCount(threads) || !isCount(started)) return undefined
  // After a kill the first thread may be a zombie while another is still inside a write.
  return { started, ended: /^[ZXx]$/.test(state ?? '') && Number(threads) <= 1 }
}

const isCount = (text: string | undefined): text is string => /^\d+$/.test(text ?? '')

/** Marks are read from a store. An invalid mark proves nothing, and `kill` takes some numbers for process groups. */
const isMark = ({ pid, started }: ProcessMark): boolean => Number.isInteger(pid) && pid > 0 && pid <= 0x7fffffff && isCount(started)

const isAbsent = (code: string): boolean => code === 'ENOENT' || code === 'ESRCH'

/** With hidepid, procfs hides processes of other users, so only the answer of `kill` is a proof. */
function hasNoProcess(system: System, pid: number): boolean {
  const answer = answerOf(() => system.probe(pid))
  return 'code' in answer && answer.code === 'ESRCH'
}

/** An error of the system is an answer; any other error is a bug of ours. */
function answerOf<T>(ask: () => T): { readonly value: T } | { readonly code: string } {
  try {
    return { value: ask() }
  } catch (error) {
    const code = (error as { code?: unknown } | undefined)?.code
    if (typeof code !== 'string') throw error
    return { code }
  }
}
