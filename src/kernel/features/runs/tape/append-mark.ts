// The mark in the header of an event that a program appended through its run. Replay finds the event by it. It differs from the keys that callers
// choose, which stand in the same place.

import { ByteWriter, hex, utf8 } from '../../../../model/bytes.ts'
import type { RunId } from '../../../../model/ids.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { type Asked, entryKey } from '../program/call.ts'

const NAME_BYTES = 12
const PROOF_BYTES = 4

/** The mark is the same in every fork of the run, so that a fork finds the events of its past. */
export function markOf(scope: Scope, origin: RunId, asked: Asked): Uint8Array {
  const { sha256 } = scope.engine.environment.digest
  const mark = new Uint8Array(NAME_BYTES + PROOF_BYTES)
  mark.set(sha256(utf8(`inkfast/mark/${origin}\n${entryKey(asked)}`)).subarray(0, NAME_BYTES))
  mark.set(proofOf(scope, origin, mark), NAME_BYTES)
  return mark
}

export function isMark(scope: Scope, origin: RunId, key: Uint8Array): boolean {
  const proof = proofOf(scope, origin, key)
  return proof.every((byte, i) => byte === key[NAME_BYTES + i])
}

function proofOf(scope: Scope, origin: RunId, mark: Uint8Array): Uint8Array {
  const named = new ByteWriter()
    .start(utf8(`inkfast/marked/${origin}\n`))
    .bytes(mark.subarray(0, NAME_BYTES))
    .done()
  return scope.engine.environment.digest.sha256(named).subarray(0, PROOF_BYTES)
}

export const markKey = (mark: Uint8Array): string => `append ${hex(mark)}`
