// The digest of a turn's content, which its receipt keeps. It is keyed, so that it confirms no guess.

import { hex, utf8 } from '../../../model/bytes.ts'
import { canonical } from '../../../model/canonical.ts'
import { takeExact } from '../../../model/data.ts'
import { hmac } from '../../../model/hmac.ts'
import type { Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import type { TakenTurn } from './turn-options.ts'

export async function turnDigest(scope: Scope, { content, checkpoint, messages }: TakenTurn): Promise<string> {
  const { sha256 } = scope.engine.environment.digest
  const components = checkpoint && Object.entries(checkpoint).filter(([, component]) => component !== undefined)
  const state = components?.map(([name, component]) => {
    const text =
      component instanceof Uint8Array
        ? `bytes:${hex(sha256(component))}`
        : // Exact JSON may hold what canonical JSON refuses, such as lone surrogates.
          JSON.stringify(telling(scope, () => takeExact(component)))
    return [name, hex(sha256(utf8(text)))]
  })
  const said = messages.map((one) => hex(sha256(utf8(JSON.stringify(one)))))
  const raw = utf8(canonical({ ...content, messages: said, checkpoint: state ?? (checkpoint === null ? null : undefined) }))
  return hex(hmac(sha256, await scope.engine.redactKey(), raw))
}
