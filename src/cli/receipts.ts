// Reads receipts that were kept elsewhere. A journal is compared with them, because its chain alone is not enough.

import { readFileSync } from 'node:fs'
import type { Receipt } from '../index.ts'
import { tenantId } from '../model/ids.ts'
import { usage } from './exit.ts'

/** A JSON array, an object with `receipts`, or one receipt per line. */
export function readReceipts(file: string): readonly Receipt[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw usage(
      `The receipts in ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'failed'}). Check the path after --receipts.`,
    )
  }
  const receipts = entriesOf(text, file).map((entry, i) => receiptOf(entry, i + 1, file))
  // Without receipts, a journal would be called intact on the evidence of its chain alone.
  if (receipts.length === 0) throw noReceipts(file)
  return receipts
}

const noReceipts = (file: string) =>
  usage(`${file} contains no receipts. Write them as a JSON array, or one per line: {"tenant":"main","seq":1,"hash":"…"}.`)

function entriesOf(text: string, file: string): readonly unknown[] {
  try {
    const whole = JSON.parse(text) as unknown
    if (Array.isArray(whole)) return whole
    const list = (whole as { receipts?: unknown } | null)?.receipts
    return Array.isArray(list) ? list : [whole]
  } catch {
    // The text is not one JSON value, so it is read line by line.
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  try {
    return lines.map((line) => JSON.parse(line) as unknown)
  } catch {
    throw noReceipts(file)
  }
}

function receiptOf(entry: unknown, place: number, file: string): Receipt {
  const { tenant = 'main', seq, hash, id } = (entry ?? {}) as Record<string, unknown>
  const usable = Number.isSafeInteger(seq) && (seq as number) > 0 && typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash)
  if (!usable || typeof tenant !== 'string')
    throw usage(`Receipt ${place} in ${file} is invalid: expected a tenant, a seq ≥ 1 and a hash of 64 hex digits.`)
  return { tenant: tenantId(tenant), seq, hash, id } as Receipt
}
