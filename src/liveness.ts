// Which process this is, and whether another one on the same machine is provably gone: what procfs of Linux tells. Elsewhere nothing is
// known, and nobody is ever gone. A wrong "gone" would take a lease from a process that still works, so every doubt is a no.

import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Liveness, ProcessMark } from './ports/environment.ts'

/** What is asked of the operating system; each throws the system's own error where there is no answer. */
export interface System {
  readonly platform: string
  readonly pid: number
  hostname(): string
  read(path: string): string
  readLink(path: string): string
  /** Returns when the pid is somebody's, as `kill` without a signal does. */
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
  /** Nothing of it runs any more, and only its parent has not asked after it. */
  readonly ended: boolean
}

function markOfSelf(system: System): ProcessMark | undefined {
  const read = answerOf(() => ({
    own: system.readLink('/proc/self'),
    boot: system.read('/proc/sys/kernel/random/boot_id').trim(),
    stat: system.read('/proc/self/stat'),
    // Containers may share a host name, and each counts its pids from one.
    host: `${system.hostname()} ${system.readLink('/proc/self/ns/pid')}`,
  }))
  if ('code' in read) return undefined
  const { own, boot, stat, host } = read.value
  const started = parseStat(stat)?.started
  // A procfs of another pid namespace knows us, and everybody else, under other numbers.
  if (own !== String(system.pid) || !/^[0-9a-f-]{36}$/.test(boot) || started === undefined) return undefined
  return { host, boot, pid: system.pid, started }
}

/**
 * The fields behind the command, which stands in parentheses and may hold any itself: state is the third of all, the number of threads the
 * twentieth, the start in ticks since boot the twenty-second.
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

/** Marks come out of a store; with one that is no mark of ours nothing is proven, and kill takes some numbers for whole groups. */
const isMark = ({ pid, started }: ProcessMark): boolean => Number.isInteger(pid) && pid > 0 && pid <= 0x7fffffff && isCount(started)

const isAbsent = (code: string): boolean => code === 'ENOENT' || code === 'ESRCH'

/** Mounted with hidepid, procfs does not show other users' liveness at all: only the kernel's own answer is a proof. */
function hasNoProcess(system: System, pid: number): boolean {
  const answer = answerOf(() => system.probe(pid))
  return 'code' in answer && answer.code === 'ESRCH'
}

/** An error of the system is an answer; any other is a mistake of ours. */
function answerOf<T>(ask: () => T): { readonly value: T } | { readonly code: string } {
  try {
    return { value: ask() }
  } catch (error) {
    const code = (error as { code?: unknown } | undefined)?.code
    if (typeof code !== 'string') throw error
    return { code }
  }
}
