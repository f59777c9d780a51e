// Shows the tape of a run, oldest first: its calls, their outcomes, and its holders.

import { EXIT, type Exit } from '../exit.ts'
import { failureLines } from '../runs/error-lines.ts'
import { TapeLines, tapeColumns, unsettledOf } from '../runs/tape-lines.ts'
import { knownRun, namedRun } from '../runs/words.ts'
import { tenantView, withStore } from '../store.ts'
import { Table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { jsonLine } from '../text.ts'

// Enough lines to choose column widths; the rest of a long tape is streamed.
const ROWS_TO_FIT = 200

export function showTape(t: Terminal, words: readonly string[], options: { readonly tenant?: string }): Promise<Exit> {
  const { url, run } = namedRun(words)
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const { id } = await knownRun(store, run)
    if (t.json) {
      for await (const event of store.runs.tape(id)) {
        t.signal.throwIfAborted()
        t.out(jsonLine(event))
        await t.room()
      }
      return EXIT.fine
    }
    const lines = new TapeLines(await unsettledOf(store, id))
    const table = new Table(t, tapeColumns)
    let held: (readonly string[])[] | undefined = []
    const begin = () => {
      if (!held) return
      t.out(table.fit(held).head())
      for (const cells of held) t.out(table.row(cells))
      held = undefined
    }
    for await (const event of store.runs.tape(id)) {
      t.signal.throwIfAborted()
      const cells = lines.cells(event)
      if (!cells) continue
      const below = failureLines(event).map((line) => [...cells.slice(1).map(() => ''), line])
      for (const row of [cells, ...below]) {
        if (held) held.push(row)
        else t.out(table.row(row))
      }
      if (held && held.length >= ROWS_TO_FIT) begin()
      await t.room()
    }
    begin()
    return EXIT.fine
  })
}
