// The fold of chunks makes of them what the reader of the AI SDK makes of them.

import { readUIMessageStream } from 'ai'
import { describe } from 'vitest'
import { foldsLike } from '../../../../test/threads/compare-fold.ts'

describe('the fold of chunks', () => foldsLike(() => readUIMessageStream))
