// Queues: work items that are claimed by one worker at a time, retried with backoff, and kept as dead letters.

import type { Backlog } from '../../model/queries.ts'
import type { Feature } from '../feature.ts'
import { checkOpen } from '../scope.ts'
import { localNodesOf } from './local-nodes.ts'
import { type Queue, queueOf } from './queue.ts'
import { work } from './work-decider.ts'

export interface QueueStore {
  /** Returns a queue by its name. It exists once something was offered to it. */
  queue<T = unknown>(name: string): Queue<T>
  /** Lists every queue that holds something, and how much. */
  queues(): Promise<readonly Backlog[]>
}

export const queues: Feature<QueueStore> = {
  name: 'work',
  onClose: (engine) => localNodesOf(engine).close(),
  deciders: [work],
  store: (scope, only) => ({
    queue: <T>(name: string) => {
      checkOpen(scope.engine)
      return queueOf<T>(scope, name, only)
    },
    queues: async () => {
      checkOpen(scope.engine)
      return scope.engine.backend.queries.backlog(scope.tenant)
    },
  }),
}
