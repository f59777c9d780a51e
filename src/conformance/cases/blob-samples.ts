// Samples of blobs, and how they are put and read.

import { hex } from '../../model/bytes.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Guard } from '../../ports/commit.ts'
import { MAIN, sha256 } from '../material.ts'

export interface Sample {
  readonly digest: string
  readonly bytes: Uint8Array
}

export const sample = (bytes: Uint8Array): Sample => ({ digest: hex(sha256(bytes)), bytes })
export const words = (text: string): Sample => sample(new TextEncoder().encode(text))

/** No bytes, all byte values, bytes that are not UTF-8, and more than a page or a packet. */
export const samples: readonly Sample[] = [
  sample(new Uint8Array(0)),
  sample(new Uint8Array(1)),
  sample(Uint8Array.from({ length: 256 }, (_, i) => i)),
  sample(Uint8Array.from([0xff, 0xfe, 0, 0xc3, 0x28, 0x5c, 0x78])),
  sample(Uint8Array.from({ length: 300_007 }, (_, i) => (i * 7919) >> 3)),
]

export const putAll = async (backend: Backend, all: readonly Sample[]): Promise<void> => {
  for (const { digest, bytes } of all) await backend.blobs.put(MAIN, digest, bytes)
}

/** Returns hex, so that only the bytes are compared and a difference is readable. */
export const read = async (backend: Backend, digest: string, tenant = MAIN): Promise<string | undefined> => {
  const piece = await backend.blobs.get(tenant, digest, 0)
  return piece && hex(piece.body)
}

export const listed = async (backend: Backend, after?: string, limit = 100): Promise<readonly string[]> =>
  (await backend.blobs.list(MAIN, after, limit)).map(({ digest }) => digest)

export const guard = (text: string): Guard => ({ kind: 'blob', digest: words(text).digest })

export const condemn = (backend: Backend, number: number, texts: readonly string[], before = Infinity, seen = 0, tenant = MAIN) =>
  backend.blobs.condemn({ tenant, number, digests: texts.map((text) => words(text).digest), before, seen })
