// Shows events of the journal: the last ones, or the first ones, that match.

import type { Event } from '../../index.ts'
import { EXIT, type Exit, usage } from '../exit.ts'
import { EventLines, eventColumns, type FilterOptions, lastEvents, queryOf } from '../query.ts'
import { tenantView, withStore } from '../store.ts'
import { Table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { jsonLine } from '../text.ts'

export interface EventsOptions extends FilterOptions {
  readonly last?: number
  readonly first?: number
}

const LAST_BY_DEFAULT = 20
// Enough rows to choose column widths; the rest of a long list is streamed.
const ROWS_TO_FIT = 200

export function events(t: Terminal, url: string | undefined, options: EventsOptions): Promise<Exit> {
  if (options.last !== undefined && options.first !== undefined) throw usage('Pass --last or --first, not both.')
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const query = { ...(await queryOf(store, options, Date.now())), signal: t.signal }
    const found =
      options.first !== undefined
        ? store.events({ ...query, limit: options.first })
        : lastEvents(store, query, options.last ?? LAST_BY_DEFAULT)
    if (t.json) {
      for await (const event of found) {
        t.out(jsonLine(event))
        await t.room()
      }
      return EXIT.fine
    }
    const shown = await print(t, new EventLines(t, store), found)
    if (shown === 0) t.note(`No event matches in tenant ${store.tenantId}; its last event is seq ${(await store.head()).seq}.`)
    return EXIT.fine
  })
}

async function print(t: Terminal, lines: EventLines, found: AsyncIterable<Event>): Promise<number> {
  let waiting: (readonly string[])[] | undefined = []
  const table = new Table(t, eventColumns)
  const begin = () => {
    if (!waiting) return
    if (waiting.length > 0) t.out(table.fit(waiting).head())
    for (const cells of waiting) t.out(table.row(cells))
    waiting = undefined
  }
  let shown = 0
  for await (const event of found) {
    shown++
    const cells = await lines.cells(event)
    if (waiting) waiting.push(cells)
    else t.out(table.row(cells))
    if (waiting?.length === ROWS_TO_FIT) begin()
    await t.room()
  }
  begin()
  return shown
}
