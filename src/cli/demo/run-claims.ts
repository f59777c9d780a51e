// The claims of the demo about runs, each with its measurement. Every claim can fail, and a test makes each of them fail.

import type { Event } from '../../index.ts'
import { one, span } from '../format.ts'
import type { Claim } from './claims.ts'
import type { Action } from './outbox.ts'
import type { Owner, Takeover } from './takeover.ts'

const TOOLS = ['charge', 'mail', 'parcel'] as const

/** Counted in the outbox, independently of the store. */
export function actionsOnce(done: readonly Action[], owners: readonly Owner[]): Claim {
  const times = TOOLS.map((tool) => done.filter((action) => action.tool === tool).length)
  const begun = owners.filter(({ steps }) => steps.mail === 'begun' || steps.mail === 'executed').length
  return {
    claim: 'each action happened exactly once',
    ok: done.length === TOOLS.length && times.every((n) => n === 1) && begun > 1,
    measured: `in the outbox: charge ${times[0]}, mail ${times[1]} (tried ${one(begun, 'time')}, one key), parcel ${times[2]}`,
  }
}

/** The first process to settle an effect executed it; later ones got the recorded result. */
export function recordedReplayed(owners: readonly Owner[]): Claim {
  let replayed = 0
  let wrong = 0
  for (const tool of TOOLS) {
    const hows = owners.map(({ steps }) => steps[tool]).filter((how) => how === 'executed' || how === 'replayed')
    if (hows[0] !== 'executed') wrong++
    for (const how of hows.slice(1)) how === 'replayed' ? replayed++ : wrong++
  }
  return {
    claim: 'recorded steps were replayed from the tape, not called again',
    ok: wrong === 0 && replayed > 0,
    measured: wrong === 0 ? `${replayed} steps replayed` : `${wrong} out of order`,
  }
}

interface Taken {
  readonly seq: number
  readonly at: number
  readonly until: number
  readonly mark?: unknown
}

const takenOf = (tape: readonly Event[]): readonly Taken[] =>
  tape.filter(({ type }) => type === 'lease.taken').map(({ seq, at, data }) => ({ ...(data as Omit<Taken, 'seq' | 'at'>), seq, at }))

/** The run was taken over while the lease of the killed process was still valid. */
export function replacedAtOnce({ owners, tape }: Pick<Takeover, 'owners' | 'tape'>): Claim {
  const taken = takenOf(tape)
  const killed = [0, 1].map((i) => ({ lease: taken[i], next: taken[i + 1], afterMs: owners[i + 1]?.afterMs ?? Number.NaN }))
  const provable = killed.every(({ lease }) => lease?.mark !== undefined)
  const early = killed.every(({ lease, next }) => lease && next && next.at < lease.until)
  const times = killed.map(({ afterMs }) => span(afterMs)).join(' and ')
  const left = Math.min(...killed.map(({ lease, next }) => (lease?.until ?? 0) - (next?.at ?? 0)))
  return {
    claim: 'a killed process is replaced (on Linux before its lease ends)',
    ok: taken.length === owners.length && (early || !provable),
    measured: early
      ? `after ${times}, with ${span(left)} of the lease left`
      : provable
        ? `after ${times}, when the lease had expired`
        : `after ${times}: this system cannot prove that a process died, so its lease was awaited`,
  }
}

export function fencesGrow({ owners, tape }: Pick<Takeover, 'owners' | 'tape'>): Claim {
  const fences = owners.map(({ fence }) => fence)
  const granted = takenOf(tape).map(({ seq }) => seq)
  const grows = fences.every((fence, i) => fence > (fences[i - 1] ?? 0))
  return {
    claim: 'every owner gets a larger fence than the one before',
    ok: fences.length > 1 && grows && fences.join() === granted.join(),
    measured: `${fences.join(' < ')}, as the journal granted them`,
  }
}

export function lateRefused({ refusal, owners }: Pick<Takeover, 'refusal' | 'owners'>): Claim {
  const [, , stopped, next] = owners
  const { code, grown } = refusal
  return {
    claim: 'a process that resumes after losing its lease is refused',
    ok: code === 'FENCE_LOST' && grown === 0,
    measured: `${code}: fence ${stopped?.fence} was replaced by ${next?.fence}; ${grown === 0 ? 'nothing was written' : `${one(grown, 'event')} written`}`,
  }
}

export function answerHeard({ tape, answeredMs, owners }: Pick<Takeover, 'tape' | 'answeredMs' | 'owners'>): Claim {
  const ended = tape.find(({ type, data }) => type === 'wait.ended' && (data as { kind?: string }).kind === 'approval')
  const by = (ended?.data as { by?: string } | undefined)?.by
  const done = tape.some(({ type }) => type === 'run.finished')
  return {
    claim: 'an approval from another process reaches the run, and it ends',
    ok: by !== undefined && done && owners.at(-1)?.steps.approval === 'answered',
    measured:
      by === undefined
        ? 'it did not arrive'
        : `approved by ${by}, received after ${span(answeredMs)}${done ? '' : ', but the run did not end'}`,
  }
}
