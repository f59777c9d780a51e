// Builds an engine: the parts that all views of a store share.

import { idMaker } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { invalidOption, ownMembers } from '../model/options.ts'
import { milliseconds } from '../model/time.ts'
import type { Backend } from '../ports/backend.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import { type Redactor, redactor } from '../redact/redactor.ts'
import { tagger } from '../redact/tagger.ts'
import { freshBlobs } from './content/blobs-before-commit.ts'
import { checkCollectAfter, noteCommit } from './content/writes-since-collection.ts'
import { type AnyFeature, FeatureSet } from './feature.ts'
import type { KernelOptions } from './options.ts'
import { AuditTrail } from './proof/audit-trail.ts'
import { yieldingReads } from './reading/yielding-reads.ts'
import { SessionMemory } from './session/session-memory.ts'
import { Renewals } from './time/renewals.ts'
import { ClosedTenants } from './wiring/closed-tenants.ts'
import type { Engine } from './wiring/scope.ts'
import { Registry } from './writing/decider.ts'
import { Lane, type LaneOptions } from './writing/lane.ts'
import { RowMutex } from './writing/row-mutex.ts'

const SALT_BYTES = 16
const SALTS_AT_A_TIME = 256

export async function createEngine(
  backend: Backend,
  environment: Environment,
  options: KernelOptions,
  list: readonly AnyFeature[],
  closing: AbortSignal,
  saved: NonNullable<LaneOptions['saved']>,
): Promise<Engine> {
  const payloadBytes = options.payloadBytes ?? limits.payloadBytes
  if (!Number.isInteger(payloadBytes) || payloadBytes < 2 || payloadBytes > limits.payloadBytesMost) {
    throw invalidOption('payloadBytes', `an integer from 2 to ${limits.payloadBytesMost}`, payloadBytes)
  }
  const budgetMs = options.writeBudget === undefined ? limits.writeBudgetMs : milliseconds(options.writeBudget)
  if (budgetMs < 1) throw invalidOption('writeBudget', 'a duration of at least 1 ms', options.writeBudget)
  checkCollectAfter(options.collectAfter)
  let secret: Promise<Uint8Array> | undefined
  const redactKey = () => {
    secret ??= (async () => options.redactKey ?? (await backend.upkeep.secret('redaction')))().catch((error) => {
      // The next caller asks again.
      secret = undefined
      throw error
    })
    return secret
  }
  const mask =
    options.redact === false ? undefined : redactor(ownMembers(options.redact || {}), tagger(environment.digest.sha256, await redactKey()))
  const world = { ...environment, logger: maskedLogger(environment.logger, mask) }
  const sessions = new SessionMemory()
  const features = new FeatureSet(list)
  const newId = idMaker(
    () => world.clock.now(),
    (count) => world.entropy.bytes(count),
  )
  const renewals = new Renewals(backend, world, closing)
  const audit: AuditTrail = new AuditTrail({
    backend,
    environment: world,
    newId,
    storeTime: () => lane.storeTime(),
    closing,
    readOnly: options.readOnly ?? false,
  })
  const lane: Lane = new Lane(backend, world, {
    ...options.lane,
    budgetMs,
    saved: (commit, outcome) => {
      noteCommit(engine, commit)
      freshBlobs(engine).settle(commit.tenant, commit.events)
      saved(commit, outcome)
    },
    refused: (commit, outcome) => audit.refused(commit, outcome),
  })
  const engine: Engine = {
    options,
    backend: yieldingReads(backend, world, audit),
    environment: world,
    lane,
    audit,
    features,
    registry: new Registry(features.deciders, features.tapeTypes),
    redactor: mask,
    redactKey,
    sessions,
    closedTenants: new ClosedTenants(sessions),
    rowMutex: new RowMutex(),
    payloadBytes,
    newId,
    newSalt: salts(world),
    closing,
    renewals,
  }
  features.opened(engine)
  return engine
}

/** Secrets reach neither the journal nor a log. */
function maskedLogger(logger: Logger, mask: Redactor | undefined): Logger {
  const through =
    (level: keyof Logger): Logger['info'] =>
    (message, details) => {
      try {
        if (mask) logger[level](mask.text(message), details && (mask.value(details) as typeof details))
        else logger[level](message, details)
      } catch {
        // A failing logger must not turn a saved commit into a failed one, and there is no other place to report it.
      }
    }
  return { info: through('info'), warn: through('warn'), error: through('error') }
}

// Random bytes are drawn in large pools: drawing sixteen per event costs more than hashing with them.
function salts({ entropy }: Environment): () => Uint8Array {
  let pool = new Uint8Array(0)
  let used = 0
  return () => {
    if (used + SALT_BYTES > pool.length) {
      pool = new Uint8Array(entropy.bytes(SALT_BYTES * SALTS_AT_A_TIME))
      used = 0
    }
    used += SALT_BYTES
    return pool.slice(used - SALT_BYTES, used)
  }
}
