// Lists snapshots of executions, or prints one.

import { CliError, EXIT, type Exit } from '../exit.ts'
import { time } from '../format.ts'
import { tenantView, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, namedWords, onlyStore } from '../words.ts'

export interface SnapshotsOptions {
  readonly tenant?: string
  readonly last?: number
  readonly cursor?: string
}

const LAST_BY_DEFAULT = 20

export function listSnapshots(t: Terminal, words: readonly string[], options: SnapshotsOptions): Promise<Exit> {
  return withStore(onlyStore(words), async (root) => {
    const store = await tenantView(root, options.tenant)
    const page = await store.snapshots.list({ last: options.last ?? LAST_BY_DEFAULT, ...given({ cursor: options.cursor }) })
    if (t.json) {
      t.out(jsonLine(page))
      return EXIT.fine
    }
    if (page.items.length === 0) t.note(`There are no snapshots in tenant ${store.tenantId}.`)
    else
      printTable(
        t,
        [
          { title: 'execution', most: 48, style: 'bold' },
          { title: 'seq', right: true },
          { title: 'saved (UTC)', style: 'dim' },
          { title: 'step', optional: true },
          { title: 'user', optional: true },
        ],
        page.items.map(({ execution, seq, at, step = '', user = '' }) => [execution, String(seq), time(at), step, user]),
      )
    if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

export function showSnapshot(t: Terminal, words: readonly string[], options: SnapshotsOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { execution: 'inkfast snapshots list' })
  return withStore(url, async (root) => {
    const snapshot = await (await tenantView(root, options.tenant)).snapshots.load(names[0] as string)
    if (!snapshot)
      throw new CliError(
        'SNAPSHOT_UNKNOWN',
        EXIT.missing,
        `There is no snapshot of '${names[0]}'. See what exists with inkfast snapshots list.`,
      )
    if (t.json) t.out(jsonLine(snapshot))
    else for (const line of JSON.stringify(snapshot, undefined, 2).split('\n')) t.out(harmless(line))
    return EXIT.fine
  })
}
