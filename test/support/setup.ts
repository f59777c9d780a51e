// Runs before each test file, also where several files share a process: registers the hooks that support modules need, and seeds properties.

import fc from 'fast-check'
import { afterAll, afterEach } from 'vitest'
import { cleanUpFile, cleanUpTest } from './cleanups.ts'
import { SEED } from './rounds.ts'

// Tests use what the AI SDK calls deprecated, because stores may hold it.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
fc.configureGlobal({ seed: SEED })
afterEach(cleanUpTest)
afterAll(cleanUpFile)
