// The claims of the demo, each with its measurement. Every claim can fail, and a test makes each of them fail.

import type { Event, RebuildReport, Receipt, VerifyReport } from '../../index.ts'
import { count, one, shortHash } from '../format.ts'
import { occurrences } from './tamper.ts'

export interface Claim {
  readonly claim: string
  readonly ok: boolean
  readonly measured: string
}

/** Compares each receipt with the journal, independently of `verify`. */
export function receiptsStand(receipts: readonly Receipt[], events: ReadonlyMap<number, Event>): Claim {
  const standing = receipts.filter(({ seq, id, hash }) => events.get(seq)?.id === id && events.get(seq)?.hash === hash).length
  return {
    claim: 'every acknowledged event is there, with the hash of its receipt',
    ok: receipts.length > 0 && standing === receipts.length,
    measured: `${count(standing)} of ${count(receipts.length)}`,
  }
}

export function chainIntact(claim: string, report: VerifyReport): Claim {
  const { events, head, anchors } = report
  return {
    claim,
    ok: report.intact && events > 0,
    measured: report.intact
      ? `${count(events)} events, head ${shortHash(head.hash)}${anchors.receipts > 0 ? `, matches ${one(anchors.receipts, 'receipt')}` : ''}`
      : `seq ${report.brokenAt}: ${report.reason}`,
  }
}

/** The steps of each caller are 1, 2, 3 …: each exactly once and in order, however often they were sent. */
export function stepsOnce(events: Iterable<Event>, repeated: number): Claim {
  const last = new Map<number, number>()
  let [steps, wrong] = [0, 0]
  for (const { data } of events) {
    const { caller, step } = (data ?? {}) as { caller?: unknown; step?: unknown }
    if (typeof caller !== 'number' || typeof step !== 'number') continue
    steps++
    if (step !== (last.get(caller) ?? 0) + 1) wrong++
    last.set(caller, step)
  }
  return {
    claim: 'no step is duplicated, and none is missing',
    ok: steps > 0 && wrong === 0,
    measured: `${count(steps)} steps of ${last.size} callers, ${wrong === 0 ? 'each once' : `${count(wrong)} out of place`}; ${count(repeated)} retried after a kill`,
  }
}

export function rowsFold(report: RebuildReport): Claim {
  return {
    claim: 'the stored rows equal the rows rebuilt from the journal',
    ok: report.equal && report.rows > 0,
    measured: report.equal
      ? `${count(report.rows)} rows from ${count(report.events)} events`
      : `${one(report.differences.length, 'row')} differ`,
  }
}

export function tamperNamed(report: VerifyReport, seq: number): Claim {
  const only = report.problems.length === 1 && report.problems[0]?.seq === seq && report.problems[0].state === 'corrupt'
  return {
    claim: `verify names event ${seq} and no other`,
    ok: !report.intact && only,
    measured: report.intact ? 'nothing was found' : report.problems.map((p) => `seq ${p.seq}: ${p.reason}`).join('; '),
  }
}

/** The chain of a cut copy is consistent, and only the receipts reveal the cut. Both results are shown. */
export function cutSeen(alone: VerifyReport, held: VerifyReport, firstGone: number): Claim {
  return {
    claim: 'receipts kept elsewhere reveal the truncation',
    ok: alone.intact && !held.intact && held.brokenAt === firstGone,
    measured: held.intact
      ? 'nothing was found'
      : `missing from seq ${held.brokenAt} on (chain alone: ${alone.intact ? 'intact' : 'not intact'})`,
  }
}

/** The same search must find the words beside the secret; otherwise it would prove nothing. */
export function secretAbsent(files: readonly Uint8Array[], secrets: readonly string[], beside: string): Claim {
  const times = (text: string) => files.reduce((sum, bytes) => sum + occurrences(bytes, text), 0)
  const found = secrets.reduce((sum, secret) => sum + times(secret), 0)
  const control = times(beside)
  const size = files.reduce((sum, bytes) => sum + bytes.length, 0)
  return {
    claim: 'the secrets of a tool call are not in any file',
    ok: secrets.length > 0 && found === 0 && control > 0,
    measured: `found ${count(found)} times in ${count(size)} bytes; the text beside them: ${count(control)}`,
  }
}
