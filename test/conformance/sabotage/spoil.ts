// What a sabotage is, and the ways of doing one damage to a backend.

import type { OpenBackend, OpenedBackend } from '../../../src/conformance/case.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Commit } from '../../../src/ports/commit.ts'
import type { JournalReads, Page, PageQuery } from '../../../src/ports/journal.ts'

export interface Sabotage {
  readonly name: string
  /** The invariants at least one case each must name when it fails. */
  readonly breaks: readonly string[]
  readonly open: (open: OpenBackend) => OpenBackend
}

/** The same damage to every handle. */
export const everyHandle =
  (spoil: (backend: Backend) => Backend) =>
  (open: OpenBackend): OpenBackend =>
  async (options): Promise<OpenedBackend> => {
    const opened = await open(options)
    const { reopen, second } = opened
    return {
      ...opened,
      backend: spoil(opened.backend),
      ...(reopen && { reopen: async () => spoil(await reopen.call(opened)) }),
      ...(second && { second: async () => spoil(await second.call(opened)) }),
    }
  }

/** A sabotage that is the same damage to every handle. */
export const spoiled = (name: string, breaks: readonly string[], spoil: (backend: Backend) => Backend): Sabotage => ({
  name,
  breaks,
  open: everyHandle(spoil),
})

/** Commits as they should not be sent. */
export const resending =
  (alter: (commit: Commit) => Commit) =>
  (backend: Backend): Backend => ({ ...backend, commit: (batch) => backend.commit(batch.map(alter)) })

/** Pages as they should not be read, in snapshots too. */
export function repaging(
  read: (page: (query: PageQuery) => Promise<Page>, query: PageQuery) => Promise<Page>,
): (backend: Backend) => Backend {
  const spoilJournal = (journal: JournalReads): JournalReads => ({
    ...journal,
    page: (tenant, query) => read((asked) => journal.page(tenant, asked), query),
  })
  return (backend) => ({
    ...backend,
    journal: spoilJournal(backend.journal),
    upkeep: {
      ...backend.upkeep,
      snapshot: async (tenant) => {
        const snapshot = await backend.upkeep.snapshot(tenant)
        return { ...snapshot, journal: spoilJournal(snapshot.journal) }
      },
    },
  })
}
