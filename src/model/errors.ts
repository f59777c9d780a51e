// Every refusal a caller can meet: a stable code, a kind, and a sentence saying what happened, what it means for the data and
// what to do. docs/reference/errors.md has a heading per code; a test compares both ways.

export type ErrorKind =
  | 'invalid' // the call itself is wrong; the same call will be refused again
  | 'missing' // what it names is not there
  | 'conflict' // someone else was first; read again and decide again
  | 'denied' // not allowed here
  | 'exhausted' // a bound was reached; later, or less
  | 'corrupt' // what is stored is not what was written
  | 'unavailable' // the store cannot be reached or used now
  | 'unknown' // it may or may not have been saved; the key or the ids tell

type Details = Readonly<Record<string, unknown>>
interface ErrorRow {
  readonly kind: ErrorKind
  readonly say: (d: Details) => string
}

const listed = (items: unknown, between: string): string => (Array.isArray(items) ? items.join(between) : String(items))

const row = (kind: ErrorKind, say: (d: Details) => string): ErrorRow => ({ kind, say })

function usedFor(d: Details): string {
  if (d.run) return `for the run ${d.run} (${d.state}) with another input`
  if (d.input) return `for the input ${d.input} (${d.state}) with other content`
  if (d.batch) return `for the batch ${d.batch} (${d.state}) with another payload`
  if (d.approval) return `for the approval ${d.approval} (${d.state}) of something else`
  if (d.process) return `for event ${d.number} of the process ${d.process} with other content`
  return `at seq ${d.seq} for another command`
}

export const errors = {
  // opening
  FOLDER_MISSING: row(
    'missing',
    (d) => `The folder ${d.folder} does not exist, so ${d.path} was not opened. Create the folder first; it is never created in silence.`,
  ),
  PATH_INVALID: row(
    'invalid',
    (d) => `The path ${d.path} cannot be used (${d.reason}). Nothing was created. Give a path to a file in a folder that exists.`,
  ),
  FILE_MISSING: row(
    'missing',
    (d) => `There is no store at ${d.path}; nothing was created. Check the path, or open it from a program to start a new journal.`,
  ),
  FILE_DENIED: row(
    'denied',
    (d) =>
      `The file ${d.path} may not be opened (${d.reason}). Nothing was changed. Give this user the right to read and write the file and its folder.`,
  ),
  FILE_READ_ONLY: row(
    'denied',
    (d) =>
      `The store ${d.path} can be read but not written (${d.reason}). Nothing was written. Make the file and its folder writable for this user.`,
  ),
  FILE_EMPTY: row(
    'corrupt',
    (d) =>
      `The file ${d.path} exists but holds no bytes. A store is never created in place, so this was cut or made by hand. Restore it from a backup, or delete the file to start a new journal.`,
  ),
  NOT_A_DATABASE: row(
    'corrupt',
    (d) =>
      `The file ${d.path} is not an SQLite database, or its first page is damaged. Nothing was changed. Check the path; if it was a journal once, restore a backup.`,
  ),
  NOT_A_STORE: row(
    'invalid',
    (d) => `The file ${d.path} is a database of another application. Nothing was changed. Give Inkfast a file of its own.`,
  ),
  FILE_CORRUPT: row(
    'corrupt',
    (d) =>
      `The file ${d.path} is damaged on disk (${d.reason}); the last event that could be read is seq ${d.lastGoodSeq ?? 'unknown'}. Nothing was changed. Keep the file, copy it for examination, and restore a backup.`,
  ),
  FILE_BUSY: row(
    'unavailable',
    (d) =>
      `The store ${d.path} stayed locked by another process for ${d.waitedMs} ms, so nothing was written. Try again, or find the process that holds it.`,
  ),
  FILE_MISPLACED: row(
    'corrupt',
    (d) =>
      `The file ${d.path} does not hold the journal of tenant ${d.tenant} alone: it was moved, copied or written to as something else. Nothing of it was shown or changed. Put the tenant's own file in its place.`,
  ),
  DISK_FULL: row(
    'exhausted',
    (d) => `The disk under ${d.path} is full, so nothing was written. What was acknowledged before is safe. Free some space and try again.`,
  ),
  IO_FAILED: row(
    'unavailable',
    (d) => `The disk under ${d.path} failed (${d.reason}). Nothing more was acknowledged. Check the disk, then run inkfast verify.`,
  ),
  SCHEMA_NEWER: row(
    'unavailable',
    (d) =>
      `The store ${d.path} has schema ${d.found}, newer than the ${d.known} this version knows. Nothing was changed. Install a newer inkfast.`,
  ),
  SCHEMA_OLDER: row(
    'unavailable',
    (d) =>
      `The store ${d.path} has schema ${d.found}, older than the ${d.needed} this version works with. Nothing was changed. Run inkfast migrate ${d.path}.`,
  ),
  SCHEMA_CHANGED: row(
    'corrupt',
    (d) =>
      `Migration ${d.migration} of ${d.path} was applied with another checksum than this version ships. Nothing was changed. Use the release that created the store.`,
  ),
  SQLITE_TOO_OLD: row(
    'unavailable',
    (d) =>
      `This Node carries SQLite ${d.found}; ${d.needed} or newer is needed, because older ones can lose a commit when the log is reset. Use Node ${d.node} or newer.`,
  ),
  DURABILITY_NOT_HELD: row(
    'unavailable',
    (d) =>
      `${d.path} was asked for durability '${d.asked}' but reports synchronous=${d.found}. Nothing was written. Do not change pragmas of the store's connection.`,
  ),
  URL_UNKNOWN: row('invalid', (d) => `'${d.url}' names no kind of store. Give a file path, ':memory:', a file: URL or a postgres: URL.`),
  OPTION_INVALID: row('invalid', (d) => `The option ${d.option} is not usable: ${d.why}. Nothing was opened or written.`),
  NOT_YET: row(
    'unavailable',
    (d) => `${d.feature} is not part of this version. Nothing was changed. ${d.instead ?? 'See the changelog for what is.'}`,
  ),
  STORE_CLOSED: row('unavailable', () => 'The store is closed; nothing was written. Open it again.'),

  // a database
  DATABASE_UNREACHABLE: row(
    'unavailable',
    (d) =>
      `${d.place} cannot be reached (${d.reason}). Nothing was written. Check host and port of ${d.setting ?? 'url'}, and that the server runs.`,
  ),
  DATABASE_TLS_FAILED: row(
    'unavailable',
    (d) => `${d.place} cannot be spoken to in private (${d.reason}). Nothing was sent. Check sslmode, sslrootcert and the like in the url.`,
  ),
  DATABASE_LOGIN_REFUSED: row(
    'denied',
    (d) =>
      `${d.place} refused the login (${d.reason}). Nothing was opened. Check user and password in ${d.setting ?? 'url'}, and pg_hba.conf of the server.`,
  ),
  DATABASE_MISSING: row(
    'missing',
    (d) => `${d.place}: ${d.reason}. Nothing was opened. Check the name at the end of url, or create the database first.`,
  ),
  DATABASE_RIGHT_MISSING: row(
    'denied',
    (d) =>
      `The login lacks a right on ${d.place} (${d.reason}). Nothing was written. Grant it inkfast_app, or run inkfast migrate with a login that may create roles.`,
  ),
  DATABASE_READ_ONLY: row(
    'denied',
    (d) =>
      `${d.place} takes no writes (${d.reason}). Nothing was written. Point url at the primary, or open with readOnly to look at a replica.`,
  ),
  DATABASE_FULL: row(
    'exhausted',
    (d) =>
      `The disk of ${d.place} is full (${d.reason}), so nothing was written. What was acknowledged before is safe. Free some space there.`,
  ),
  DATABASE_BUSY: row(
    'unavailable',
    (d) =>
      `${d.place} did not get to it (${d.reason}), so nothing was written. Try again; if it stays so, look at max_connections, the option connections and what holds locks.`,
  ),
  DATABASE_UNSUITABLE: row('unavailable', (d) => `${d.place} cannot carry a store: ${d.why}. Nothing was opened.`),
  ROLE_TOO_POWERFUL: row(
    'denied',
    (d) =>
      `Statements on ${d.place} would run as ${d.role}, which ${d.why}, so the wall between tenants would not hold. Nothing was served. Use a login that has inkfast_app and nothing else as url.`,
  ),
  TENANT_KEY_MISSING: row(
    'invalid',
    (d) =>
      `${d.place} walls tenants off with a key that this login may not read. Nothing was served. Pass the option tenantKey, or INKFAST_TENANT_KEY to the command: the same that inkfast migrate was given.`,
  ),
  TENANT_KEY_WRONG: row(
    'denied',
    (d) =>
      `The tenantKey is not one that ${d.place} knows. Nothing was read or written. Pass the key that inkfast migrate was given, or give it this one.`,
  ),
  WALL_OPEN: row(
    'denied',
    (d) =>
      `The wall between tenants of ${d.place} does not stand: ${d.why}. Nothing was served. Run inkfast migrate with the owner's login, then inkfast doctor.`,
  ),

  // tenants and actors
  TENANT_INVALID: row(
    'invalid',
    (d) => `'${d.tenant}' cannot name a tenant: use 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or a digit.`,
  ),
  TENANT_CLOSED: row(
    'denied',
    (d) =>
      `Tenant ${d.tenant} is ${d.state}; nothing was read or written for it. ${d.state === 'deleted' ? 'That is final.' : 'Whoever runs the store may resume it.'}`,
  ),
  TENANT_WALL: row(
    'denied',
    (d) =>
      `A store handed out for tenant ${d.tenant} cannot use ${d.call}, which reaches beyond it. Nothing was read. Ask the store that was opened.`,
  ),
  ACTOR_INVALID: row(
    'invalid',
    (d) =>
      `The actor must be an opaque id of 1 to 64 printable ASCII characters without spaces; headers are never erased, so names do not belong there (got ${d.found}).`,
  ),

  // events
  TYPE_INVALID: row(
    'invalid',
    (d) => `'${d.type}' is not an event type. Use noun.verbed in lower case, such as plan.changed, at most 128 bytes. Nothing was written.`,
  ),
  TYPE_RESERVED: row(
    'denied',
    (d) => `The type ${d.type} belongs to Inkfast's own features and cannot be appended by hand. Nothing was written. Choose another noun.`,
  ),
  DATA_INVALID: row(
    'invalid',
    (d) => `The data cannot be kept exactly: ${d.why} at ${d.path}. Nothing was written. Pass plain JSON values only.`,
  ),
  DATA_TOO_LARGE: row(
    'exhausted',
    (d) =>
      `The payload has ${d.bytes} bytes, the limit is ${d.limit}. Nothing was written. Store large things as blobs and append their reference.`,
  ),
  COMMIT_TOO_LARGE: row(
    'exhausted',
    (d) => `One commit may hold ${d.limit} ${d.unit}; this one has ${d.found}. Nothing was written. Split it.`,
  ),
  COMMIT_EMPTY: row('invalid', () => 'There is nothing to append. Pass at least one event.'),
  KEY_INVALID: row(
    'invalid',
    (d) => `A key must be well-formed text of 1 to 512 bytes without U+0000 (got ${d.found}). Nothing was written.`,
  ),
  ID_INVALID: row('invalid', (d) => `'${d.id}' is not an id: 26 characters of Crockford base 32 are expected.`),
  KEY_REUSED: row(
    'conflict',
    (d) =>
      `The key was used ${usedFor(d)}${d.erased ? ' whose payload has since been erased, so the two cannot be compared' : ''}. Nothing was written. Use a new key for a new command.`,
  ),
  HEAD_MOVED: row(
    'conflict',
    (d) =>
      `Someone wrote to session ${d.session} first: its last event is seq ${d.found}, you expected ${d.after}. Nothing was written. Read on from there and decide again.`,
  ),
  CONFLICT: row(
    'conflict',
    (d) =>
      `${d.table} ${d.id} kept changing while the command was decided (${d.tries} tries). Nothing was written. Try again when there is less contention.`,
  ),
  FENCE_LOST: row(
    'conflict',
    (d) =>
      `${d.table} ${d.id} has a newer holder (fence ${d.found}, yours was ${d.fence}). Nothing was written. Stop this work; the newer holder goes on.`,
  ),
  // work
  QUEUE_NAME_INVALID: row(
    'invalid',
    (d) =>
      `'${d.name}' cannot name a queue: a name has 1 to ${d.limit} characters, none of them a control character, and does not begin with ${d.reserved}. Nothing was written.`,
  ),
  WORK_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no work item ${d.item}; it was completed, cancelled, or never offered. Nothing was written. List the queue to see what is there.`,
  ),
  WORK_NOT_DEAD: row(
    'conflict',
    (d) =>
      `Work item ${d.item} of queue ${d.queue} is ${d.state}, and only dead ones are redriven. Nothing was written. It will be taken up by itself.`,
  ),
  JOB_UNKNOWN: row('missing', (d) => `There is no job '${d.name}'. Nothing was written. store.cron.list() has those there are.`),
  BACKFILL_TOO_LARGE: row(
    'exhausted',
    (d) => `Job '${d.name}' comes up more than ${d.limit} times in that period, so nothing was offered. Ask for a shorter period.`,
  ),
  CLAIM_SETTLED: row(
    'conflict',
    (d) => `The claim of work item ${d.item} was settled already (${d.how}). Nothing was written. Settle a claim once.`,
  ),
  // triggers
  TRIGGER_UNKNOWN: row(
    'missing',
    (d) => `There is no trigger '${d.trigger}'. Nothing was written. Register it with store.triggers.on(name, { source, queue }).`,
  ),
  TRIGGER_INVALID: row('invalid', (d) => `The trigger is not usable: ${d.why}. Nothing was written.`),
  TRIGGER_CHANGED: row(
    'conflict',
    (d) =>
      `The trigger '${d.trigger}' is at revision ${d.found}, you expected ${d.expect}. Nothing was written. Look at it again and decide again.`,
  ),
  TRIGGER_LIMIT: row(
    'exhausted',
    (d) =>
      `The source '${d.source}' has ${d.limit} triggers, and one firing has to reach them all in one commit. Nothing was written. Delete one, or fire from several sources.`,
  ),
  FIRING_ERASED: row(
    'missing',
    (d) => `The payload of firing ${d.firing} was erased, so there is nothing to deliver. Fire again with another key if it is needed.`,
  ),
  // processes
  PROCESS_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no process ${d.process}; it was never registered here, or it was pruned. Nothing was written. store.processes.list() shows what there is.`,
  ),
  PROCESS_DIFFERS: row(
    'conflict',
    (d) =>
      `The process ${d.name} (${d.state}) is registered with another ${listed(d.differs, ' and another ')}. Nothing was written. Register it as it was, or under another name.`,
  ),
  PROCESS_FINISHED: row(
    'conflict',
    (d) => `The process ${d.name} is ${d.state}, and that is final. Nothing was written. Its result says how it ended.`,
  ),
  PROCESS_HELD: row(
    'conflict',
    (d) =>
      `The process ${d.name} (${d.state}) is held by ${d.owner} (fence ${d.fence}) for at most ${d.forMs} ms more. Nothing was written. Wait with { wait: '30s' }, or let the holder go on.`,
  ),
  PROCESS_EVENT_UNDECLARED: row(
    'invalid',
    (d) =>
      `The process ${d.name} declared its events, and ${d.type} is not among them (${listed(d.declared, ', ')}). Nothing was written. Declare the type when the process is registered.`,
  ),
  PROCESS_EVENT_INCOMPLETE: row(
    'invalid',
    (d) => `An event ${d.type} of the process ${d.name} needs something at ${d.missing}, and there is nothing. Nothing was written.`,
  ),
  PROCESS_REFERENCE_SET: row(
    'conflict',
    (d) =>
      `The process ${d.name} (${d.state}) is ${d.id} of ${d.backend} already, and the first reference counts. Nothing was written. Register another process for another job.`,
  ),
  PROCESS_NOT_GRANTED: row(
    'denied',
    (d) =>
      `Session ${d.session} has no handle on ${listed(d.missing, ', ')}. Nothing was handed over. store.processes.grants({ session }) shows what it has.`,
  ),
  PROCESS_CANCEL_REQUESTED: row(
    'conflict',
    (d) => `Somebody asked for the process ${d.name} to be cancelled: ${d.reason}. Stop, and throw; it is recorded as cancelled.`,
  ),
  // runs
  RUN_UNKNOWN: row(
    'missing',
    (d) => `There is no run ${d.run} in tenant ${d.tenant}. Nothing was written. Check the id; inkfast runs lists them.`,
  ),
  RUN_FINISHED: row(
    'conflict',
    (d) =>
      `The run ${d.name} (${d.run}) is ${d.state}, and that is final. Nothing was written. Read its result, or start another run with another key.`,
  ),
  RUN_CLOSED: row('conflict', (d) => `The run ${d.run} (${d.state}) was let go here. Nothing was written. Open it again to go on.`),
  RUN_STATE: row(
    'conflict',
    (d) =>
      `The run ${d.run} is ${d.state}, so it cannot become ${d.wanted}. Nothing was written. Look at what it waits for with inkfast runs show.`,
  ),
  RUN_HELD: row(
    'conflict',
    (d) =>
      `The run ${d.name} is held by ${d.owner} (fence ${d.fence}) for at most ${d.forMs} ms more. Nothing was written. Wait with { wait: '30s' }, or let the holder finish.`,
  ),
  RUN_NAME_INVALID: row(
    'invalid',
    (d) => `'${d.name}' cannot be the name of ${d.of}. Nothing was written. Use 1 to ${d.limit} characters without control characters.`,
  ),
  RUN_FAILED: row('conflict', (d) => `The run ${d.run} failed: ${d.reason}. Its tape says how far it came: inkfast runs tape.`),
  RUN_CANCELLED: row('conflict', (d) => `The run ${d.run} was cancelled: ${d.reason}. What it recorded until then stays.`),
  REPLAY_DIVERGED: row(
    'conflict',
    (d) =>
      `The program of run ${d.run} no longer asks for what it asked for before; nothing was called and nothing was written.\n${d.diff}\nRun it with the code it began with, or fork it at a seq before the difference.`,
  ),
  EFFECT_FAILED: row(
    'unavailable',
    (d) =>
      `The effect '${d.effect}' failed after ${d.attempts} attempt(s): ${d.reason}. The error is recorded, and replay will meet it again.`,
  ),
  EFFECT_AMBIGUOUS: row(
    'invalid',
    (d) =>
      `Several effects '${d.effect}' of the run ${d.run} (${d.state}) wait for somebody to say how they ended: ${d.places}. Nothing was written. Say which one, by its branch and ordinal.`,
  ),
  EFFECT_UNKNOWN: row(
    'missing',
    (d) =>
      `The run ${d.run} (${d.state}) waits for nobody to say how the effect '${d.effect}' ended. Nothing was written. Look at its tape for the name.`,
  ),
  EFFECT_SETTLED: row(
    'conflict',
    (d) =>
      `The effect '${d.effect}' of run ${d.run} (${d.state}) has been settled, and the first outcome counts. Nothing was written by this one.`,
  ),
  RESULT_INVALID: row(
    'invalid',
    (d) =>
      `What ${d.of} of run ${d.run} (${d.state}) returned cannot be recorded: ${d.why}. Nothing was written, so it will be called again. Return plain JSON.`,
  ),
  USAGE_INVALID: row('invalid', (d) => `The usage of run ${d.run} (${d.state}) was not counted: ${d.why}. Nothing was written.`),
  APPROVAL_UNKNOWN: row(
    'missing',
    (d) => `There is no approval ${d.id} in tenant ${d.tenant}. Nothing was written. List the pending ones for their ids.`,
  ),
  APPROVAL_CLOSED: row(
    'conflict',
    (d) => `The approval ${d.id} is ${d.state} already, and the first answer counts. Nothing was changed by this one.`,
  ),
  APPROVAL_DENIED: row(
    'denied',
    (d) => `'${d.subject}' was not approved (${d.state}${d.by ? ` by ${d.by}` : ''}). The run goes on as if it had been told no.`,
  ),
  INPUTS_FULL: row(
    'exhausted',
    (d) =>
      `The run ${d.run} (${d.state}) has been told ${d.limit} things already. Nothing was written. Say it to the next turn with { turn: 'next' }.`,
  ),
  INBOX_CLAIM_UNKNOWN: row(
    'missing',
    (d) =>
      `The run ${d.run} (${d.state}) has no claim ${d.claim} in hand, and none was completed. Complete a claim once, with the id that inbox gave.`,
  ),
  INBOX_CLAIM_LOST: row(
    'conflict',
    (d) =>
      `The claim ${d.claim} is not the run ${d.run}'s any more: batch ${d.batch} was taken over${d.holder ? ` by the run ${d.holder}` : ''}. Nothing was written. Stop this work; whoever took it over does it.`,
  ),
  APPROVAL_FORBIDDEN: row(
    'denied',
    (d) =>
      `The approval ${d.id} is not for ${d.by ?? 'somebody without a name'} to decide. Nothing was written. Let one of those it names decide, and say who with by.`,
  ),
  APPROVAL_OTHER: row(
    'conflict',
    (d) =>
      `The approval ${d.id} asks for ${d.asked ?? 'something that was erased'}, and the decision speaks of ${d.digest ?? 'something else'}. Nothing was decided. Read it again and decide on what it asks for.`,
  ),
  PERMIT_UNKNOWN: row(
    'missing',
    (d) => `There is no permit ${d.id} in tenant ${d.tenant}. Nothing was written. store.approvals.permits.list() has those there are.`,
  ),
  RANGE_INVALID: row('invalid', (d) => `The range is not usable: ${d.why}. Nothing was read.`),
  CURSOR_INVALID: row(
    'invalid',
    () => 'The cursor was not made by this list. Pass back the cursor exactly as it was given, with the same filter.',
  ),
  SCHEDULE_INVALID: row(
    'invalid',
    (d) =>
      `The schedule is not usable: ${d.why}. Nothing was written. Give { cron: '0 9 * * 1-5', zone: 'Europe/Paris' }, { every: '15m' } or { at: date }.`,
  ),
  ZONE_UNKNOWN: row(
    'invalid',
    (d) =>
      `'${d.zone}' is no time zone that this machine knows. Nothing was written. Use an IANA name such as Europe/Paris; for a zone that is new, a newer Node.`,
  ),
  DURATION_INVALID: row(
    'invalid',
    (d) => `'${d.duration}' is not a duration. Write '30s', '5m', '2h', '3d' or milliseconds, at most a thousand years.`,
  ),

  // sessions
  SESSION_UNKNOWN: row(
    'missing',
    (d) => `There is no session ${d.session} in tenant ${d.tenant}. Nothing was written. Open one with store.session(key).`,
  ),
  SESSION_ARCHIVED: row(
    'denied',
    (d) => `Session ${d.session} is archived and takes no new events. Nothing was written. Call session.reopen() first.`,
  ),
  SESSION_DELETED: row('denied', (d) => `Session ${d.session} was deleted. Nothing was written. Open a new session under its key.`),

  // erasing
  EVENT_UNKNOWN: row('missing', (d) => `There is no event ${d.seq} in tenant ${d.tenant}; the head is ${d.head}. Nothing was erased.`),
  ERASE_REFUSED: row(
    'denied',
    (d) => `Event ${d.seq} is a ${d.type} and its payload cannot be erased, because it is the proof that others were. Nothing was erased.`,
  ),

  // blobs
  BLOB_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no blob ${d.digest} in tenant ${d.tenant}. Nothing was read. Put its bytes again, or restore them: no blob is made anew from the journal.`,
  ),
  BLOB_DAMAGED: row(
    'corrupt',
    (d) =>
      `The blob ${d.digest} of tenant ${d.tenant} is not what was put: the ${d.bytes} bytes that are there have another digest. Nothing of it was shown or changed. Keep it for examination, and restore it from a backup.`,
  ),
  BLOB_TOO_LARGE: row(
    'invalid',
    (d) =>
      `The blob has ${d.bytes} bytes, the limit is ${d.limit}. Nothing was written. Put it in several parts and keep their references.`,
  ),

  // the lane
  OVERLOADED: row(
    'exhausted',
    (d) =>
      `${d.waiting} commits (${d.bytes} bytes) are waiting already; this one was refused at the door and nothing was written. Slow down and try again.`,
  ),
  OUTCOME_UNKNOWN: row(
    'unknown',
    (d) =>
      `The store did not answer (${d.reason}), so this commit may or may not be saved. ${d.key ? 'Send the same command with the same key: it will be written at most once.' : 'Look for its event ids before writing it again.'}`,
  ),
  BACKEND_FAILED: row(
    'unavailable',
    (d) => `The store failed (${d.reason}). Nothing of this commit was saved. Look at store.health(), then try again.`,
  ),
  ABORTED: row('unavailable', () => 'The call was aborted by its signal.'),

  // damage
  JOURNAL_BROKEN: row(
    'corrupt',
    (d) =>
      `The journal of tenant ${d.tenant} is not what was written: ${d.reason} at seq ${d.seq}. Nothing was changed. Keep the file and restore a backup.`,
  ),
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errors

export class InkError extends Error {
  override readonly name = 'InkError'
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly details: Details

  constructor(code: ErrorCode, details: Details = {}, cause?: unknown) {
    super(errors[code].say(details), cause === undefined ? undefined : { cause })
    this.code = code
    this.kind = errors[code].kind
    this.details = details
  }
}

/** Makes the refusal to throw: `throw refuse('HEAD_MOVED', { … })`. */
export const refuse = (code: ErrorCode, details: Details = {}, cause?: unknown): InkError => new InkError(code, details, cause)

/**
 * For refusals that come by the thousand: without a stack, whose making costs more than the work that is refused. Where it was
 * refused is told by the code.
 */
export function refuseLightly(code: ErrorCode, details: Details = {}): InkError {
  const depth = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return new InkError(code, details)
  } finally {
    Error.stackTraceLimit = depth
  }
}

/** We were wrong: not a refusal of the caller's, but a broken promise of ours. */
export function assert(condition: unknown, promise: string): asserts condition {
  if (!condition) throw new Error(`Broken promise inside Inkfast: ${promise}. Please report this.`)
}
