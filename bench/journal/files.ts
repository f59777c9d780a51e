// The journals that are measured: built once a run by processes of their own, or taken from a folder that an earlier run kept.

import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { inChild } from '../lib/child.ts'
import type { Settings } from '../lib/workload.ts'

export interface JournalFile {
  readonly path: string
  readonly events: number
  readonly sessions: number
}

export const MANY = 5000
export const sessionKey = (i: number): string => `bench/${i}`

export const largeEvents = ({ quick }: Settings): number => (quick ? 100_000 : 1_000_000)
export const largeFile = (settings: Settings, sessions: number): Promise<JournalFile> =>
  journalFile(settings, largeEvents(settings), sessions)

const building = new Map<string, Promise<JournalFile>>()

/** A closed file with so many events over so many sessions. */
export function journalFile(settings: Settings, events: number, sessions: number): Promise<JournalFile> {
  const path = join(settings.files, `journal-${events}-over-${sessions}.db`)
  const known = building.get(path)
  if (known) return known
  const made = build(settings, { path, events, sessions })
  building.set(path, made)
  return made
}

async function build(settings: Settings, file: JournalFile): Promise<JournalFile> {
  if (existsSync(file.path)) return file
  const start = performance.now()
  // Built under another name: a run that was stopped half-way leaves nothing that looks whole.
  const unfinished = `${file.path}.unfinished`
  await inChild(new URL('build.ts', import.meta.url), unfinished, String(file.events), String(file.sessions))
  renameSync(unfinished, file.path)
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  settings.say(`built ${file.path}: ${file.events} events over ${file.sessions} session(s) in ${seconds} s`)
  return file
}
