// Fires: writes the firing, a delivery for every trigger that matches, and a work item for each delivery, in one commit. At no moment is
// there a firing without its deliveries.

import { hex, utf8 } from '../../../model/bytes.ts'
import { canonical } from '../../../model/canonical.ts'
import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import type { Id } from '../../../model/ids.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { DeliveryRow, FiringId, TriggerDeliveryId, TriggerRow } from '../../../model/trigger.ts'
import type { Guard } from '../../../ports/commit.ts'
import { store } from '../../content/json-or-blob.ts'
import { maskKey, takeName } from '../../naming/names.ts'
import { everyRow } from '../../reading/every-row.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { admit } from '../../writing/draft.ts'
import { NOT_THERE, type Part, part, plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { localNodesOf } from '../work/local-nodes.ts'
import { offerPart } from '../work/offer.ts'
import { delivery } from './delivery-decider.ts'
import { firing, isAnother } from './firing-decider.ts'
import { deliveryId, deliveryItem, firingId, sourceId } from './ids.ts'
import { matches } from './match.ts'

export interface FireOptions {
  /** Idempotency key. The same key with the same payload returns the first answer; with another payload it is refused. */
  readonly key?: string
}

/** The delivery of a firing to one trigger. */
export interface Reserved {
  readonly id: TriggerDeliveryId
  readonly trigger: string
  /** The item in the trigger's queue. */
  readonly item: Id<'work'>
  /** The revision of the trigger when this was reserved. */
  readonly revision: number
}

export interface Fired {
  readonly firing: FiringId
  /** The key was used before: this is the first answer again. */
  readonly repeated: boolean
  readonly deliveries: readonly Reserved[]
}

/** The payload that a worker of a trigger's queue finds in its claim. */
export interface Delivered<T = unknown> {
  readonly trigger: string
  readonly source: string
  readonly firing: FiringId
  readonly payload: T
  /** The `with` of the trigger. */
  readonly with?: unknown
  /** The `env` of the trigger. */
  readonly env?: string
}

interface Given {
  readonly id: FiringId
  readonly source: string
  readonly key: string | undefined
  /** The payload with secrets masked. This is what is stored, matched and given to a worker. */
  readonly payload: Json
  readonly digest: string
}

export async function fire(scope: Scope, from: string, payload: unknown, options?: FireOptions): Promise<Fired> {
  const { engine, tenant } = scope
  checkOpen(engine)
  const source = takeName(scope, from, 'a source')
  const { key: asked, ...unknown } = optionsOf(options, 'fire')
  checkKnown(unknown, 'a firing')
  const key = asked === undefined ? undefined : maskKey(scope, asked)
  const id = key === undefined ? engine.newId<'firing'>() : firingId(scope, source, key)
  const admitted = admit(scope, payload, `a firing of '${source}'`)
  const digest = hex(engine.environment.digest.sha256(utf8(canonical(admitted))))
  const given = { id, source, key, payload: admitted, digest }
  return retryConflicts(scope, ['sources', 'firings'], async (attempt) => {
    // A firing that lost once queues behind the writers that change the triggers of this source.
    const end = attempt === 1 ? undefined : await engine.rowMutex.take([`${tenant}/sources/${sourceId(scope, source)}`])
    try {
      return await fireAsRead(scope, given)
    } finally {
      end?.()
    }
  })
}

/** Throws CONFLICT when the triggers of the source have changed since they were read, or another caller fired with this key. */
async function fireAsRead(scope: Scope, given: Given): Promise<Fired> {
  const { engine, tenant } = scope
  const { id, source, key, payload, digest } = given
  // The source is read before its triggers. A trigger that changes in between moves the source, and the guard refuses the commit.
  const [earlier, seen] = await Promise.all([
    engine.backend.rows.get(tenant, 'firings', id),
    engine.backend.rows.get(tenant, 'sources', sourceId(scope, source)),
  ])
  if (earlier) return again(scope, given, earlier)
  const told = (await triggersOf(scope, source)).filter(({ match }) => match === undefined || matches(match, payload))
  const stored = await store(scope, payload, {}, true)
  const now = await storeNow(
    scope,
    told.some(({ offer }) => offer.delayMs > 0),
  )
  const fired = { source, payload: stored, digest, ...(key !== undefined && { key }) }
  const reserved = told.map((trigger) => reserve(scope, given, trigger, now))
  const guards: readonly Guard[] = [
    { kind: 'row', table: 'firings', id, revision: 0 },
    { kind: 'row', table: 'sources', id: sourceId(scope, source), revision: seen?.revision ?? 0 },
  ]
  const { repeated } = await plan(
    scope,
    [part(firing, id, { verb: 'fire', id, ...fired }, { seen: NOT_THERE }), ...reserved.flatMap(({ parts }) => parts)],
    { guards, ...(key !== undefined && { key, within: `fire/${source}`, body: digest }) },
  )
  if (repeated) return { firing: id, repeated, deliveries: await reservedOf(scope, id) }
  if (reserved.length > 0) localNodesOf(engine).wake()
  return { firing: id, repeated, deliveries: reserved.map(({ as }) => as) }
}

async function again(scope: Scope, given: Given, { body, born }: TableRow<'firings'>): Promise<Fired> {
  const row = decodeBody(body)
  if (isAnother(row, given))
    throw refuse('KEY_REUSED', { seq: born, erased: row.erased ?? false, firing: row.id, source: given.source, key: given.key })
  return { firing: row.id, repeated: true, deliveries: await reservedOf(scope, row.id) }
}

const PAGE = 500

/** The enabled triggers of a source, in the order in which they were registered. */
async function triggersOf(scope: Scope, source: string): Promise<readonly TriggerRow[]> {
  const found: TriggerRow[] = []
  for await (const { body } of everyRow(scope, 'triggers', { index: 'bySource', equals: [source, 'enabled'], limit: PAGE }))
    found.push(decodeBody(body))
  return found
}

function reserve(scope: Scope, given: Given, trigger: TriggerRow, now: number): { readonly as: Reserved; readonly parts: readonly Part[] } {
  const { name, revision, queue, with: along, env } = trigger
  const { delayMs, ...offer } = trigger.offer
  const id = deliveryId(scope, given.id, trigger.id)
  const item = deliveryItem(scope, id)
  const value = {
    trigger: name,
    source: given.source,
    firing: given.id,
    ...(along !== undefined && { with: along }),
    ...(env !== undefined && { env }),
  }
  const offered = { ...offer, queue, at: now + delayMs, payload: { value, firing: given.id }, origin: { kind: 'delivery', id } as const }
  const command = { verb: 'reserve', firing: given.id, trigger_id: trigger.id, trigger: name, revision, queue, item } as const
  return {
    as: { id, trigger: name, item, revision },
    parts: [part(delivery, id, command, { seen: NOT_THERE }), offerPart(item, offered, { seen: NOT_THERE })],
  }
}

const reservedOf = async (scope: Scope, id: FiringId): Promise<readonly Reserved[]> =>
  (await deliveriesOf(scope, id)).flatMap(({ id, trigger, item, revision }) =>
    trigger === undefined ? [] : [{ id, trigger, item, revision }],
  )

export async function deliveriesOf(scope: Scope, id: FiringId): Promise<readonly DeliveryRow[]> {
  const found: DeliveryRow[] = []
  for await (const { body } of everyRow(scope, 'deliveries', { index: 'byFiring', equals: [id], limit: PAGE })) found.push(decodeBody(body))
  return found
}
