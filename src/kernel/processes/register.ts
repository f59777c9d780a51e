// Registering a process: written down once for each name, together with the item by which somebody finds it who can run it.

import { refuse } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { type Definition, type ProcessId, type ProcessRow, processQueue } from '../../model/process.ts'
import { NOT_THERE, type Part, part, plan } from '../execute.ts'
import { takeName } from '../names.ts'
import { isConflict } from '../outcome.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { storeNow } from '../store-time.ts'
import { offerPart, takeBackoff } from '../work/offer.ts'
import { differences, type RegisterOptions, takeDefinition } from './definition.ts'
import { abandonItem, processByName, runItem } from './ids.ts'
import { processDecider } from './process-decider.ts'

/** The same name and the same definition: the same process, also when it has ended. */
export async function registerProcess(scope: Scope, given: string, options: RegisterOptions): Promise<ProcessRow> {
  checkOpen(scope.engine)
  const name = takeName(scope, given, 'a process')
  const wanted = await takeDefinition(scope, options)
  for (let attempt = 1; ; attempt++) {
    const known = await processByName(scope, name)
    if (known) return checkSame(known, wanted)
    const id = scope.engine.newId<'process'>()
    const cause = wanted.provenance?.cause
    const written = part(processDecider, id, { verb: 'register', set: { name, ...wanted } }, { seen: NOT_THERE, ...(cause && { cause }) })
    const offered =
      wanted.recovery === 'external' ? [] : [offerPart(runItem(scope, id), await itemOf(scope, id, wanted.kind), { seen: NOT_THERE })]
    try {
      const { rows } = await plan(scope, [written, ...offered], wanted.wake ? { open: wanted.wake } : {})
      scope.engine.localRuns.offered()
      return rows[0]?.body as unknown as ProcessRow
    } catch (error) {
      // Somebody was first with this name.
      if (!isConflict(error, 'names') || attempt === limits.conflictRetries) throw error
    }
  }
}

function checkSame(row: ProcessRow, wanted: Definition): ProcessRow {
  const differs = differences(row, wanted)
  if (differs.length === 0) return row
  throw refuse('PROCESS_DIFFERS', { process: row.id, name: row.name, state: row.state, differs })
}

/** A request to abandon it waits for somebody who sees that nobody holds it. */
export async function abandonPart(scope: Scope, id: ProcessId): Promise<Part> {
  return offerPart(abandonItem(scope, id), await itemOf(scope, id, ''))
}

// It may be claimed as often as somebody looks: whoever claims it counts, and ends what was tried too often.
const itemOf = async (scope: Scope, id: ProcessId, kind: string) =>
  ({
    queue: processQueue(kind),
    at: await storeNow(scope, false),
    priority: 0,
    backoff: takeBackoff(),
    origin: { kind: 'process', id },
  }) as const
