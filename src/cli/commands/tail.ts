// Shows the last events and then new ones as they are appended, until it is stopped.

import type { Event } from '../../index.ts'
import { EXIT, type Exit, usage } from '../exit.ts'
import { EventLines, eventColumns, type FilterOptions, lastEvents, queryOf } from '../query.ts'
import { tenantView, withStore } from '../store.ts'
import { Table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { jsonLine } from '../text.ts'

export interface TailOptions extends FilterOptions {
  readonly from?: number
  readonly last?: number
}

const LAST_BY_DEFAULT = 10

export async function tail(t: Terminal, url: string | undefined, options: TailOptions): Promise<Exit> {
  if (options.from !== undefined && options.last !== undefined) throw usage('Pass --last or --from, not both.')
  return withStore(url, async (root) => {
    const store = await tenantView(root, options.tenant)
    const query = await queryOf(store, options, Date.now())
    // The head is read first: events up to it are shown as the last ones, later events come live. No gap, no repeat.
    const head = (await store.head()).seq
    const from = options.from ?? (options.after === undefined ? undefined : options.after + 1)
    const last = options.last ?? LAST_BY_DEFAULT
    const before = Math.min(head + 1, query.before ?? Number.MAX_SAFE_INTEGER)
    const behind: Event[] = []
    if (from === undefined && last > 0) for await (const event of lastEvents(store, { ...query, before }, last)) behind.push(event)
    const lines = new EventLines(t, store)
    const cells = t.json ? [] : await Promise.all(behind.map((e) => lines.cells(e)))
    const table = new Table(t, eventColumns).fit(cells)
    if (!t.json) t.out(table.head())
    const show = async (event: Event) => t.out(t.json ? jsonLine(event) : table.row(await lines.cells(event)))
    for (const event of behind) await show(event)
    const after = from === undefined ? head : Math.max(0, from - 1)
    for await (const event of store.events({ ...query, after, live: true, signal: t.signal })) {
      await show(event)
      await t.room()
    }
    return EXIT.fine
  })
}
