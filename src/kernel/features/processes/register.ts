// Registers a process once for each name, in one commit with the work item by which a worker finds it.

import { refuse } from '../../../model/errors.ts'
import { type Definition, type ProcessId, type ProcessRow, processQueue } from '../../../model/process.ts'
import { environmentGuards, namingEnvironment, unknownEnvironment } from '../../content/environment-guard.ts'
import { takeName } from '../../naming/names.ts'
import { takeBackoff } from '../../time/backoff.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part, plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { localNodesOf } from '../work/local-nodes.ts'
import { offerPart } from '../work/offer.ts'
import { unhandledWatchOf } from '../work/unhandled.ts'
import { differences, type RegisterOptions, takeDefinition } from './definition.ts'
import { abandonItem, processByName, runItem } from './ids.ts'
import { processDecider } from './process-decider.ts'

/** Registers a process. The same name with the same definition returns the same process, also when it has ended. */
export async function registerProcess(scope: Scope, given: string, options: RegisterOptions): Promise<ProcessRow> {
  checkOpen(scope.engine)
  const name = takeName(scope, given, 'a process')
  const wanted = await takeDefinition(scope, options)
  // The conflict: another caller registered a process under this name.
  return retryConflicts(scope, ['names'], async () => {
    const [known, guards] = await Promise.all([processByName(scope, name), environmentGuards(scope, wanted.env)])
    if (known) return checkSame(known, wanted)
    if (!guards) throw unknownEnvironment(scope, wanted.env)
    const id = scope.engine.newId<'process'>()
    const cause = wanted.provenance?.cause
    const written = part(processDecider, id, { verb: 'register', set: { name, ...wanted } }, { seen: NOT_THERE, ...(cause && { cause }) })
    const offered =
      wanted.recovery === 'external' ? [] : [offerPart(runItem(scope, id), await itemOf(scope, id, wanted.kind), { seen: NOT_THERE })]
    const { rows } = await plan(scope, [written, ...offered], { guards, ...(wanted.wake && { open: wanted.wake }) }).catch((error) => {
      throw namingEnvironment(scope, wanted.env, error)
    })
    localNodesOf(scope.engine).wake()
    if (offered.length > 0) unhandledWatchOf(scope.engine).expect(scope, processQueue(wanted.kind))
    return rows[0].body as ProcessRow
  })
}

function checkSame(row: ProcessRow, wanted: Definition): ProcessRow {
  const differs = differences(row, wanted)
  if (differs.length === 0) return row
  throw refuse('PROCESS_DIFFERS', { process: row.id, name: row.name, state: row.state, differs })
}

/** The work item of a request to abandon a process. A worker that sees that nobody holds the process ends it. */
export async function abandonPart(scope: Scope, id: ProcessId): Promise<Part> {
  return offerPart(abandonItem(scope, id), await itemOf(scope, id, ''))
}

// The item has no limit of attempts: the worker that claims it counts them, and ends a process that was tried too often.
const itemOf = async (scope: Scope, id: ProcessId, kind: string) =>
  ({
    queue: processQueue(kind),
    at: await storeNow(scope, false),
    priority: 0,
    backoff: takeBackoff(),
    origin: { kind: 'process', id },
  }) as const
