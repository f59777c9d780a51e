// Reads the first hundred bytes of a SQLite file without opening it, for files that cannot be opened.

import { closeSync, openSync, readSync } from 'node:fs'

export interface FileHeader {
  /** The file begins with the SQLite signature. */
  readonly sqlite: boolean
  readonly wal: boolean
  /** The application id is 'INKF'. */
  readonly ours: boolean
  readonly schema: number
}

const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'
const INKF = 0x494e4b46

export function readHeader(path: string): FileHeader {
  const bytes = Buffer.alloc(HEADER_BYTES)
  const file = openSync(path, 'r')
  try {
    readSync(file, bytes, 0, HEADER_BYTES, 0)
  } finally {
    closeSync(file)
  }
  return {
    sqlite: bytes.toString('latin1', 0, MAGIC.length) === MAGIC,
    wal: bytes[18] === 2 && bytes[19] === 2,
    ours: bytes.readUInt32BE(68) === INKF,
    schema: bytes.readUInt32BE(60),
  }
}
