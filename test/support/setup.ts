// Runs before each test file, also where several files share a process: registers the hooks that support modules need.

import { afterAll, afterEach } from 'vitest'
import { cleanUpFile, cleanUpTest } from './cleanups.ts'

afterEach(cleanUpTest)
afterAll(cleanUpFile)
