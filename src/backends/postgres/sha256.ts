// SHA-256 of bytes, in the form that model/chain.ts expects.

import { hash } from 'node:crypto'

export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
