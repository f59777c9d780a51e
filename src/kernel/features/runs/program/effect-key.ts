// The idempotency key of an effect: the same for every attempt and after every crash, and another one in a fork.

import { hex } from '../../../../model/bytes.ts'
import { keyDigest } from '../../../../model/chain.ts'
import type { RunId } from '../../../../model/ids.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { type Asked, entryKey } from './call.ts'

export const effectKey = ({ engine, tenant }: Scope, run: RunId, asked: Asked): string =>
  hex(keyDigest(engine.environment.digest.sha256, tenant, `run/${run}`, entryKey(asked)))
