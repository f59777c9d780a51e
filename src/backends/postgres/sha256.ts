// SHA-256 of bytes, in the form model/chain.ts asks for.

import { hash } from 'node:crypto'

export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
