// The validation suite of LangGraph, in full: 718 cases and 8 of delta channels. Each checkpointer is a tenant of its own.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deltaChannelHistoryTests, specTest } from '@langchain/langgraph-checkpoint-validation'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { InkfastSaver } from '../../src/adapters/langgraph/index.ts'
import { open, type Store } from '../../src/index.ts'
import { afterThisFile } from '../support/cleanups.ts'
import { leave, preparedDatabase } from '../support/databases.ts'
import { expectSound } from '../support/engines.ts'
import { LONG, QUICK } from '../support/rounds.ts'

// The suite takes these from the global object.
const globals = { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it }
Object.assign(globalThis, globals)
afterThisFile(() => {
  for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name)
})

const VALIDATION = 718
const DELTA = 8
/** The cases of `list`. A short run leaves them out on PostgreSQL. */
const LIST = 649

const engines: readonly { readonly name: string; readonly open: () => Promise<Store> }[] = [
  {
    name: 'SQLite',
    open: () => {
      const folder = mkdtempSync(join(tmpdir(), 'inkfast-test-'))
      afterThisFile(() => rmSync(folder, { recursive: true, force: true }))
      return open(join(folder, 'threads.db'))
    },
  },
  {
    name: 'PostgreSQL',
    open: async () => {
      const database = await preparedDatabase(async (url) => (await open(url)).close())
      afterThisFile(() => leave(database))
      return open(database.url)
    },
  },
]

describe.each(engines.filter(({ name }) => !QUICK || name === 'SQLite'))('the saver on $name', ({ name, open: openStore }) => {
  let store: Store
  let savers = 0
  let passed = 0
  beforeAll(async () => {
    store = await openStore()
  })
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') passed++
  })
  afterAll(() => store.close())

  const isWhole = LONG || name === 'SQLite'
  const initializer = {
    checkpointerName: 'InkfastSaver',
    createCheckpointer: () => new InkfastSaver(store.tenant(`saver-${++savers}`)),
  }
  specTest(initializer, isWhole ? [] : ['put', 'putWrites', 'getTuple', 'deleteThread'])
  deltaChannelHistoryTests(initializer)

  it('passes every case of the validation suite, and its journal is sound', async () => {
    console.log(`InkfastSaver on ${name}: ${passed} cases of the LangGraph validation suite passed`)
    expect(passed).toBe(VALIDATION + DELTA - (isWhole ? 0 : LIST))
    await expectSound(store)
  })
})
