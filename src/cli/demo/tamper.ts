// Attacks by someone with access to the file, made on copies.

import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Counts how often a text occurs in the bytes. */
export function occurrences(bytes: Uint8Array, text: string): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let found = 0
  for (let at = buffer.indexOf(text); at !== -1; at = buffer.indexOf(text, at + 1)) found++
  return found
}

/** Changes one byte of a file: in `text`, the character at `place` becomes `to`. */
export function changeByte(path: string, text: string, place: number, to: string): void {
  const bytes = readFileSync(path)
  const found = occurrences(bytes, text)
  if (found !== 1) throw new Error(`the planted text stands ${found} times in the copy, not once`)
  bytes[bytes.indexOf(text) + place] = to.charCodeAt(0)
  writeFileSync(path, bytes)
}

/** Removes the last events without their guard, puts it back, and sets the head back: the chain is consistent again. */
export function cutTail(path: string, tenant: string, keep: number): void {
  const db = new DatabaseSync(path)
  try {
    const guard = db.prepare("select sql from sqlite_schema where name = 'events_remain'").get()?.sql
    db.exec('drop trigger events_remain')
    db.prepare('delete from events where tenant = ? and seq > ?').run(tenant, keep)
    db.prepare('update heads set seq = ?, hash = (select hash from events where tenant = heads.tenant and seq = ?) where tenant = ?').run(
      keep,
      keep,
      tenant,
    )
    db.exec(String(guard))
  } finally {
    db.close()
  }
}
