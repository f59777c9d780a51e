// A database of its own for every test that asks, on the PostgreSQL of the test run; what a test leaves behind goes with its file.

import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { afterThisFile } from './cleanups.ts'
import { closeDatabase, createDatabase, type Database, type DatabaseOptions } from './postgres-database.ts'
import type { Answer } from './postgres-global.ts'

const made = new Set<Database>()
const leaving: Promise<void>[] = []

async function dropAll(): Promise<void> {
  await Promise.all([...leaving.splice(0), ...[...made].map((database) => database.drop())])
  made.clear()
}

/** It goes while the next test is at work: for a connection that is just being closed the server waits a tenth of a second. */
export function leave(database: Database): void {
  made.delete(database)
  const gone = database.drop()
  // The caller that waits for all of them gets the error.
  gone.catch(() => {})
  leaving.push(gone)
}

/** Empty, or the copy of a template. */
export async function freshDatabase(options: DatabaseOptions = {}): Promise<Database> {
  const database = await createDatabase(await serverUrl(), options)
  if (made.size === 0 && leaving.length === 0) afterThisFile(dropAll)
  made.add(database)
  return database
}

const templates = new Map<Prepare, Promise<string>>()

type Prepare = (url: string) => Promise<void>

/**
 * A copy of a database that `prepare` has filled. `prepare` runs once in each process and must close its connections; the template outlives the
 * test file and goes at the end of the run.
 */
export async function preparedDatabase(prepare: Prepare): Promise<Database> {
  return freshDatabase({ template: await templateOf(prepare) })
}

/** The name of the template that `prepare` has filled. */
export function templateOf(prepare: Prepare): Promise<string> {
  const template = templates.get(prepare) ?? makeTemplate(prepare)
  templates.set(prepare, template)
  return template
}

async function makeTemplate(prepare: Prepare): Promise<string> {
  const { name, url } = await createDatabase(await serverUrl(), { prefix: inject('postgres').templates })
  await prepare(url)
  await closeDatabase(await serverUrl(), name)
  return name
}

let url: Promise<string> | undefined

/** The superuser's URL of the run's server, which is started for the first who asks. */
export function serverUrl(): Promise<string> {
  url ??= ask()
  return url
}

async function ask(): Promise<string> {
  const known = inject('postgres')
  if ('url' in known) return known.url
  const socket = connect(known.socket)
  await once(socket, 'connect')
  const answer = JSON.parse(await text(socket)) as Answer
  if ('error' in answer) throw new Error(answer.error)
  return answer.url
}
