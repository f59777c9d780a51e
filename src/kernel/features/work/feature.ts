// Queues: work items that are claimed by one worker at a time, retried with backoff, and kept as dead letters.

import type { Jsonify } from '../../../model/jsonify.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import type { Backlog } from '../../../model/queries.ts'
import type { SchemaInput, SchemaOutput, StandardSchemaV1 } from '../../../model/standard-schema.ts'
import { type Unhandled, unhandledText } from '../../../model/unhandled.ts'
import type { Feature } from '../../feature.ts'
import { takeSchema } from '../../wiring/schema.ts'
import { checkOpen } from '../../wiring/scope.ts'
import { localNodesOf } from './local-nodes.ts'
import { type Queue, type QueueOptions, queueOf } from './queue.ts'
import { unhandled } from './unhandled.ts'
import { work } from './work-decider.ts'

export interface QueueStore {
  /** Returns a queue by its name. It exists once something was offered to it. */
  queue<T = unknown>(name: string): Queue<T>
  /** The same with a declared payload: `offer` checks it, and workers get what the schema makes of it. */
  queue<S extends StandardSchemaV1>(name: string, options: QueueOptions<S>): Queue<Jsonify<SchemaOutput<S>>, SchemaInput<S>>
  /** Lists every queue that holds something, and how much. */
  queues(): Promise<readonly Backlog[]>
  /** Names of runs, queues and kinds of processes that something has waited for longer than 5 s, while no live worker handles them. */
  unhandled(): Promise<readonly Unhandled[]>
}

export const queues: Feature<QueueStore> = {
  name: 'work',
  onClose: (engine) => localNodesOf(engine).close(),
  deciders: [work],
  refs: 'payloads and results are JSON or { digest, bytes }',
  onForked: 'work items belong to a queue of the tenant',
  health: async (scope) => {
    const { state } = await scope.engine.backend.journal.head(scope.tenant)
    return state === 'active' ? (await unhandled(scope)).map((one) => unhandledText(one).found) : []
  },
  store: (scope, only) => ({
    queue: (name: string, options?: QueueOptions<StandardSchemaV1>) => {
      checkOpen(scope.engine)
      const { payload, ...unknown } = optionsOf(options, 'queue')
      checkKnown(unknown, 'a queue')
      return queueOf<never>(scope, name, only, options && takeSchema(payload, 'payload'))
    },
    queues: async () => {
      checkOpen(scope.engine)
      return scope.engine.backend.queries.backlog(scope.tenant)
    },
    unhandled: async () => {
      checkOpen(scope.engine)
      return unhandled(scope)
    },
  }),
}
