// Random numbers that are the same under replay: drawn from the run, the branch and the number of draws before.

import { utf8 } from '../../../../model/bytes.ts'
import type { RunId } from '../../../../model/ids.ts'
import type { Scope } from '../../../wiring/scope.ts'

const BITS_53 = 2 ** 53

export function draw(scope: Scope, origin: RunId, epoch: number, branch: string, count: number): number {
  const digest = scope.engine.environment.digest.sha256(
    utf8(`inkfast/random/${origin}${epoch === 0 ? '' : `/${epoch}`}\n${branch}\n${count}`),
  )
  let bits = 0
  for (let i = 0; i < 6; i++) bits = bits * 256 + (digest[i] as number)
  return (bits * 32 + ((digest[6] as number) >> 3)) / BITS_53
}
