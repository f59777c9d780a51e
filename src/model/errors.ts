// The error table: a stable code, a kind, and a message for every error a caller can meet. A message says what happened, what it
// means for the data and what to do. docs/reference/errors.md has a heading per code; a test compares both ways.

import { limits } from './limits.ts'

export type ErrorKind =
  | 'invalid' // the call itself is wrong; the same call fails again
  | 'missing' // the thing it names does not exist
  | 'conflict' // someone else was first; read again and decide again
  | 'denied' // not allowed
  | 'exhausted' // a limit was reached; try later, or with less
  | 'corrupt' // stored data differs from what was written
  | 'unavailable' // the store cannot be reached or used now
  | 'unknown' // the write may or may not have been saved; check by key or by event id

type Details = Readonly<Record<string, unknown>>
interface ErrorRow {
  readonly kind: ErrorKind
  readonly say: (d: Details) => string
}

const listed = (items: unknown, between: string): string => (Array.isArray(items) ? items.join(between) : String(items))

const row = (kind: ErrorKind, say: (d: Details) => string): ErrorRow => ({ kind, say })

function usedFor(d: Details): string {
  if (d.run) return `for run ${d.run} (${d.state}) with a different input`
  if (d.input) return `for input ${d.input} (${d.state}) with different content or another turn or boundary`
  if (d.batch) return `for inbox item ${d.batch} (${d.state}) with a different payload or other options`
  if (d.approval) return `for approval ${d.approval} (${d.state}), which asks for something else`
  if (d.process) return `for event ${d.number} of process ${d.process} with different content`
  if (d.firing) return `for firing ${d.firing} with a different payload`
  if (d.queue) return `for an item of queue ${d.queue} with a different payload`
  if (d.seq === undefined) return 'for a different command'
  return `at seq ${d.seq} for a different command`
}

const NOUNS: Readonly<Record<string, string>> = { leases: 'lease', work: 'work item' }

function lostHold(d: Details): string {
  const thing = `${NOUNS[String(d.table)] ?? d.table} ${d.id}`
  if (typeof d.found === 'number' && d.found > 0) return `Another worker took over ${thing} (fence ${d.found}, yours was ${d.fence})`
  return `This worker no longer holds ${thing} (its fence was ${d.fence})`
}

function settled(d: Details): string {
  if (d.run) return `This handle of run ${d.run} has ended`
  if (d.session) return `The lease of session ${d.session} is already given back`
  return `The claim of work item ${d.item} is already settled`
}

/** Names a value to pass instead of one that is no JSON, by the beginning of the text that describes it. */
const INSTEAD: readonly (readonly [found: string, remedy: string])[] = [
  ['undefined', 'Pass null. Only a member of an object may be undefined, and is left out.'],
  ['NaN', 'Pass null or a text.'],
  ['Infinity', 'Pass null or a text.'],
  ['-Infinity', 'Pass null or a text.'],
  ['a bigint', 'Pass a text, such as String(value).'],
  ['a function', 'Pass what it returns, or leave it out.'],
  ['an invalid Date', 'Pass a Date that has a time, or null.'],
  ['an instance of Map', 'Pass Object.fromEntries(map).'],
  ['an instance of Set', 'Pass [...set].'],
  ['an instance of URL', 'Pass its href.'],
  ['an instance of Uint8Array', 'Store bytes with store.blobs.put() and pass the reference, or pass them as base64.'],
  ['an instance of Buffer', 'Store bytes with store.blobs.put() and pass the reference, or pass them as base64.'],
  ['an instance of', 'Pass a plain object with what is needed of it, such as { ...value }.'],
  ['a value with toJSON', 'Pass what its toJSON() returns.'],
]

const insteadOf = (found: string): string =>
  INSTEAD.find(([begin]) => found.startsWith(begin))?.[1] ??
  'Pass plain JSON: texts, finite numbers, true, false, null, lists and plain objects.'

export const errors = {
  // opening
  FOLDER_MISSING: row(
    'missing',
    (d) => `The folder ${d.folder} does not exist, so ${d.path} was not opened and nothing was created. Create the folder first.`,
  ),
  PATH_INVALID: row(
    'invalid',
    (d) => `The path ${d.path} cannot be used (${d.reason}). Nothing was created. Pass a file path in an existing folder.`,
  ),
  FILE_MISSING: row(
    'missing',
    (d) => `There is no store at ${d.path}; nothing was created. Check the path, or create the store by opening it from a program.`,
  ),
  FILE_DENIED: row(
    'denied',
    (d) =>
      `Permission to open ${d.path} was denied (${d.reason}). Nothing was changed. Give this user read and write access to the file and its folder.`,
  ),
  FILE_READ_ONLY: row(
    'denied',
    (d) =>
      `The store ${d.path} can be read but not written (${d.reason}). Nothing was written. Make the file and its folder writable for this user.`,
  ),
  FILE_EMPTY: row(
    'corrupt',
    (d) =>
      `The file ${d.path} is empty. Inkfast never leaves an empty file, so it was truncated or made by another program. Restore a backup, or delete the file to start a new journal.`,
  ),
  FILE_LOST: row(
    'corrupt',
    (d) =>
      `The file ${d.path} is missing, but its write-ahead log ${d.path}-wal is there, with writes that may exist nowhere else. Nothing was created. Restore the file, or delete the files ${d.path}-wal and ${d.path}-shm to start a new journal.`,
  ),
  NOT_A_DATABASE: row(
    'corrupt',
    (d) =>
      `The file ${d.path} is not an SQLite database, or its first page is damaged. Nothing was changed. Check the path; if it was a journal, restore a backup.`,
  ),
  NOT_A_STORE: row(
    'invalid',
    (d) => `The file ${d.path} is the database of another application. Nothing was changed. Give Inkfast its own file.`,
  ),
  FILE_CORRUPT: row(
    'corrupt',
    (d) =>
      `The file ${d.path} is damaged on disk (${d.reason}); the last readable event is seq ${d.lastGoodSeq ?? 'unknown'}. Nothing was changed. Keep a copy for examination and restore a backup.`,
  ),
  FILE_BUSY: row(
    'unavailable',
    (d) =>
      `Another process kept the store ${d.path} locked for ${d.waitedMs} ms. Nothing was written. Try again, or find the process that holds the lock.`,
  ),
  FILE_MISPLACED: row(
    'corrupt',
    (d) =>
      `The file ${d.path} holds data that does not belong to tenant ${d.tenant}: it was moved, copied or written under another name. Nothing was read or changed. Put the tenant's own file back.`,
  ),
  DISK_FULL: row(
    'exhausted',
    (d) => `The disk under ${d.path} is full. Nothing was written; everything acknowledged before is safe. Free some space and try again.`,
  ),
  IO_FAILED: row(
    'unavailable',
    (d) => `The disk under ${d.path} failed (${d.reason}). No write was acknowledged. Check the disk, then run inkfast verify.`,
  ),
  SCHEMA_NEWER: row(
    'unavailable',
    (d) =>
      `The store ${d.path} has schema ${d.found}; this version only knows schemas up to ${d.known}. Nothing was changed. Install a newer inkfast.`,
  ),
  SCHEMA_OLDER: row(
    'unavailable',
    (d) =>
      `The store ${d.path} has schema ${d.found}; this version needs schema ${d.needed}. Nothing was changed. Run inkfast migrate ${d.path}.`,
  ),
  SCHEMA_CHANGED: row(
    'corrupt',
    (d) =>
      `Migration ${d.migration} of ${d.path} has a different checksum than the one this version ships. Nothing was changed. Use the release that created the store.`,
  ),
  GUARDS_MISSING: row(
    'corrupt',
    (d) =>
      `The triggers that keep events unchanged are not as they were made in ${d.place}: ${d.why}. Nothing was opened. Open with readOnly and verify the journal, then run inkfast migrate, which restores the triggers.`,
  ),
  SCHEMA_ALTERED: row(
    'corrupt',
    (d) =>
      `The schema of ${d.path} was changed from outside: ${d.why}. Nothing was opened, changed or run. ${
        d.mends
          ? 'Run inkfast verify, then inkfast migrate, which makes missing triggers and indexes again.'
          : 'Find out who changed it, and run inkfast doctor. Drop foreign objects with the sqlite3 shell; restore a backup if a table of the store was changed.'
      }`,
  ),
  SQLITE_TOO_OLD: row(
    'unavailable',
    (d) =>
      `This Node ships SQLite ${d.found}, which can lose a commit when the log is reset; ${d.needed} or newer is needed. Nothing was opened. Use Node ${d.node} or newer.`,
  ),
  DURABILITY_NOT_HELD: row(
    'unavailable',
    (d) =>
      `The store ${d.path} was opened with durability '${d.asked}', but SQLite reports synchronous=${d.found}. Nothing was written. Do not change pragmas of the store's connection.`,
  ),
  URL_UNKNOWN: row(
    'invalid',
    (d) => `'${d.url}' is not a store URL. Nothing was opened. Pass a file path, ':memory:', a file: URL or a postgres: URL.`,
  ),
  OPTION_INVALID: row(
    'invalid',
    (d) => `Invalid option "${d.option}": ${d.why}${d.known ? `; it has ${d.known}` : ''}. Nothing was opened or written.`,
  ),
  NOT_YET: row(
    'unavailable',
    (d) =>
      `${d.feature} is not available in this version. Nothing was changed. ${d.instead ?? 'The changelog lists the available features.'}`,
  ),
  STORE_CLOSED: row('unavailable', () => 'The store is closed; nothing was written. Open it again.'),

  // a database
  DATABASE_UNREACHABLE: row(
    'unavailable',
    (d) =>
      `${d.place} cannot be reached (${d.reason}). Nothing was written. Check host and port in ${d.setting ?? 'url'}, and that the server is running.`,
  ),
  DATABASE_TLS_FAILED: row(
    'unavailable',
    (d) =>
      `The TLS connection to ${d.place} failed (${d.reason}). Nothing was sent. Check sslmode, sslrootcert and the other ssl parameters of the url.`,
  ),
  DATABASE_LOGIN_REFUSED: row(
    'denied',
    (d) =>
      `${d.place} refused the login (${d.reason}). Nothing was opened. Check user and password in ${d.setting ?? 'url'}, and pg_hba.conf on the server.`,
  ),
  DATABASE_MISSING: row(
    'missing',
    (d) => `${d.place}: ${d.reason}. Nothing was opened. Check the database name in the url, or create the database first.`,
  ),
  DATABASE_RIGHT_MISSING: row(
    'denied',
    (d) =>
      `The login lacks a privilege on ${d.place} (${d.reason}). Nothing was written. Grant it inkfast_app, or run inkfast migrate with a login that may create roles.`,
  ),
  DATABASE_READ_ONLY: row(
    'denied',
    (d) => `${d.place} is read-only (${d.reason}). Nothing was written. Point url at the primary, or open the replica with readOnly: true.`,
  ),
  DATABASE_FULL: row(
    'exhausted',
    (d) =>
      `The disk of ${d.place} is full (${d.reason}). Nothing was written; everything acknowledged before is safe. Free some space on the server.`,
  ),
  DATABASE_BUSY: row(
    'unavailable',
    (d) =>
      `${d.place} is overloaded or locked (${d.reason}). Nothing was written. Try again; if it persists, check max_connections, the option connections and pg_locks.`,
  ),
  DATABASE_UNSUITABLE: row('unavailable', (d) => `${d.place} cannot host a store: ${d.why}. Nothing was opened.`),
  ROLE_TOO_POWERFUL: row(
    'denied',
    (d) =>
      `Statements on ${d.place} would run as ${d.role}, which ${d.why}, so row-level security could not separate tenants. Nothing was served. Use a login as url whose only role is inkfast_app.`,
  ),
  TENANT_KEY_MISSING: row(
    'invalid',
    (d) =>
      `${d.place} separates tenants with a key that this login may not read. Nothing was served. Pass the key given to inkfast migrate: as the option tenantKey, or as INKFAST_TENANT_KEY.`,
  ),
  TENANT_KEY_WRONG: row(
    'denied',
    (d) =>
      `${d.place} does not know this tenantKey. Nothing was read or written. Pass the key given to inkfast migrate, or register this one with inkfast migrate --tenant-key.`,
  ),
  WALL_OPEN: row(
    'denied',
    (d) =>
      `The separation of tenants in ${d.place} failed its check: ${d.why}. Nothing was served. Run inkfast migrate with the owner's login, then inkfast doctor.`,
  ),

  // tenants and actors
  TENANT_INVALID: row(
    'invalid',
    (d) =>
      `Invalid tenant name '${d.tenant}': use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or a digit. Nothing was read or written.`,
  ),
  TENANT_CLOSED: row(
    'denied',
    (d) =>
      `Tenant ${d.tenant} is ${d.state}; nothing was read or written for it. ${d.state === 'deleted' ? 'Deletion is final.' : 'An operator can resume it with inkfast tenants resume.'}`,
  ),
  TENANT_WALL: row(
    'denied',
    (d) =>
      `The view of tenant ${d.tenant} cannot call ${d.call}, which reaches beyond that tenant. Nothing was read or written. Call it on the store that open() returned.`,
  ),
  ACTOR_INVALID: row(
    'invalid',
    (d) =>
      `The actor must be an opaque id of 1 to 64 printable ASCII characters without spaces (got ${d.found}). Nothing was written. Headers are never erased, so do not put names of people there.`,
  ),

  // events
  TYPE_INVALID: row(
    'invalid',
    (d) => `'${d.type}' is not an event type. Nothing was written. Use noun.verbed in lower case, such as plan.changed, at most 128 bytes.`,
  ),
  TYPE_RESERVED: row(
    'denied',
    (d) =>
      `The type ${d.type} cannot be appended: Inkfast reserves the noun '${String(d.type).split('.')[0]}'. Nothing was written. Choose another noun, such as task, step or note.`,
  ),
  DATA_INVALID: row(
    'invalid',
    (d) => `The data cannot be stored exactly: found ${d.why} at ${d.path}. Nothing was written. ${insteadOf(String(d.why))}`,
  ),
  DATA_TOO_LARGE: row(
    'exhausted',
    (d) =>
      `The payload has ${d.bytes} bytes${d.masked ? ' after its secrets were masked' : ''}; the limit is ${d.limit}. Nothing was written. Append with large: 'blob', or store the data as a blob and append its reference.`,
  ),
  COMMIT_TOO_LARGE: row(
    'exhausted',
    (d) => `The commit has ${d.found} ${d.unit}; the limit is ${d.limit}. Nothing was written. Split it into several calls.`,
  ),
  COMMIT_EMPTY: row('invalid', () => 'There are no events to append. Nothing was written. Pass at least one event.'),
  KEY_INVALID: row(
    'invalid',
    (d) => `A key must be well-formed text of 1 to 512 bytes without U+0000 (got ${d.found}). Nothing was written.`,
  ),
  ID_INVALID: row(
    'invalid',
    (d) =>
      `${d.why ? `Invalid id: ${d.why}` : `'${d.id}' is not an id: expected a ULID of 26 Crockford base 32 characters`}. Nothing was read or written.`,
  ),
  KEY_REUSED: row(
    'conflict',
    (d) =>
      `The key was already used ${usedFor(d)}${d.erased ? '; that payload was erased since, so the two cannot be compared' : ''}. Nothing was written. Use a new key for a new command.`,
  ),
  ID_REUSED: row(
    'conflict',
    (d) =>
      `The id ${d.id} already names the event at seq ${d.seq}${d.erased ? ', whose payload was erased since, so the two cannot be compared' : ', which is another one'}. Nothing was written. Use a new id for a new event.`,
  ),
  HEAD_MOVED: row(
    'conflict',
    (d) =>
      `Someone else wrote to session ${d.session} first: its last event is seq ${d.found}, you expected ${d.after}. Nothing was written. Read the new events and decide again.`,
  ),
  CONFLICT: row(
    'conflict',
    (d) =>
      `Other writers kept changing ${d.table} ${d.id} while this command was decided (${d.tries === 1 ? '1 try' : `${d.tries} tries`}). Nothing was written. Try again when there is less contention.`,
  ),
  FENCE_LOST: row(
    'conflict',
    (d) => `${lostHold(d)}. Nothing was written. Stop this work${Number(d.found) > 0 ? '; the new holder continues it' : ''}.`,
  ),
  // work
  QUEUE_NAME_INVALID: row(
    'invalid',
    (d) =>
      `Invalid queue name '${d.name}': use 1 to ${d.limit} characters, no control characters, and do not start with ${d.reserved}. Nothing was written.`,
  ),
  WORK_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no work item ${d.item}: it was completed or cancelled, or never existed. Nothing was written. List the queue to see its items.`,
  ),
  WORK_NOT_DEAD: row(
    'conflict',
    (d) =>
      `Work item ${d.item} of queue ${d.queue} is ${d.state}; only dead items can be redriven. Nothing was written. Workers still retry it automatically.`,
  ),
  JOB_UNKNOWN: row('missing', (d) => `There is no cron job '${d.name}'. Nothing was written. List the jobs with store.cron.list().`),
  BACKFILL_TOO_LARGE: row(
    'exhausted',
    (d) => `Cron job '${d.name}' has more than ${d.limit} occurrences in that period. Nothing was offered. Ask for a shorter period.`,
  ),
  CLAIM_SETTLED: row(
    'conflict',
    (d) => `${settled(d)} (${d.how}). Nothing was written. Settle each claim once, and write under it before that.`,
  ),
  // triggers
  TRIGGER_UNKNOWN: row(
    'missing',
    (d) => `There is no trigger '${d.trigger}'. Nothing was written. Register it with store.triggers.on(name, { source, queue }).`,
  ),
  TRIGGER_INVALID: row('invalid', (d) => `Invalid trigger: ${d.why}. Nothing was written.`),
  TRIGGER_CHANGED: row(
    'conflict',
    (d) =>
      `The trigger '${d.trigger}' is at revision ${d.found}, you expected ${d.expect}. Nothing was written. Read it again and decide again.`,
  ),
  TRIGGER_LIMIT: row(
    'exhausted',
    (d) =>
      `The source '${d.source}' already has ${d.limit} triggers, the most that one firing can reach in one commit. Nothing was written. Delete a trigger, or fire from several sources.`,
  ),
  FIRING_ERASED: row(
    'missing',
    (d) => `The payload of firing ${d.firing} was erased, so nothing was delivered. Fire again with another key if it is still needed.`,
  ),
  // processes
  PROCESS_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no process ${d.process}: it was never registered, or it was pruned. Nothing was written. List the processes with store.processes.list().`,
  ),
  PROCESS_DIFFERS: row(
    'conflict',
    (d) =>
      `The process ${d.name} (${d.state}) is already registered with a different ${listed(d.differs, ' and a different ')}. Nothing was written. Register it unchanged, or under another name.`,
  ),
  PROCESS_FINISHED: row(
    'conflict',
    (d) => `The process ${d.name} has already ended (${d.state}). Nothing was written. Read its result to see how it ended.`,
  ),
  PROCESS_HELD: row(
    'conflict',
    (d) =>
      `${d.owner} holds the process ${d.name} (${d.state}, fence ${d.fence}) for up to ${d.forMs} ms more. Nothing was written. Wait with { wait: '30s' }, or let the holder continue.`,
  ),
  PROCESS_EVENT_UNDECLARED: row(
    'invalid',
    (d) =>
      `The process ${d.name} does not declare the event type ${d.type} (declared: ${listed(d.declared, ', ')}). Nothing was written. Declare the type when you register the process.`,
  ),
  PROCESS_EVENT_INCOMPLETE: row(
    'invalid',
    (d) =>
      `The event ${d.type} of process ${d.name} has no value at ${d.missing}, which its declaration requires. Nothing was written. Add the value.`,
  ),
  PROCESS_REFERENCE_SET: row(
    'conflict',
    (d) =>
      `The process ${d.name} (${d.state}) already has the reference ${d.id} of ${d.backend}, and the first reference counts. Nothing was written. Register another process for another job.`,
  ),
  PROCESS_NOT_GRANTED: row(
    'denied',
    (d) =>
      `Session ${d.session} has no handle on ${listed(d.missing, ', ')}. Nothing was transferred. List its handles with store.processes.grants({ session }).`,
  ),
  PROCESS_CANCEL_REQUESTED: row(
    'conflict',
    (d) =>
      `Cancellation of process ${d.name} was requested: ${d.reason}. It has not ended yet. Stop the work and throw; the process is then recorded as cancelled.`,
  ),
  // runs
  RUN_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no run ${d.run} in ${d.session ? `session ${d.session}` : `tenant ${d.tenant}`}. Nothing was written. Check the id; inkfast runs lists the runs.`,
  ),
  RUN_FINISHED: row(
    'conflict',
    (d) =>
      `The run ${d.name} (${d.run}) has already ended (${d.state}). Nothing was written. Read its result, or start another run with another key.`,
  ),
  RUN_CLOSED: row(
    'conflict',
    (d) => `This handle of run ${d.run} (${d.state}) is closed. Nothing was written. Open the run again to continue it.`,
  ),
  RUN_STATE: row(
    'conflict',
    (d) =>
      `The run ${d.run} is ${d.state} and cannot become ${d.wanted}. Nothing was written. See what it waits for with inkfast runs show.`,
  ),
  RUN_HELD: row(
    'conflict',
    (d) =>
      `${d.owner} holds the run ${d.name} (fence ${d.fence}) for up to ${d.forMs} ms more. Nothing was written. Wait with { wait: '30s' }, or let the holder finish.`,
  ),
  SESSION_HELD: row(
    'conflict',
    (d) =>
      `${d.owner} holds the lease of session ${d.session} (fence ${d.fence}) for up to ${d.forMs} ms more. Nothing was written. Wait with { wait: '30s' }, or let the holder finish.`,
  ),
  RUN_NAME_INVALID: row(
    'invalid',
    (d) => `Invalid name '${d.name}' for ${d.of}: use 1 to ${d.limit} characters without control characters. Nothing was written.`,
  ),
  RUN_FAILED: row(
    'conflict',
    (d) => `The run ${d.run} failed: ${d.reason}. Its recorded steps are kept. See how far it came with inkfast runs tape.`,
  ),
  RUN_CANCELLED: row('conflict', (d) => `The run ${d.run} was cancelled: ${d.reason}. Everything it recorded before is kept.`),
  REPLAY_DIVERGED: row(
    'conflict',
    (d) =>
      `The program of run ${d.run} no longer asks for what it asked for before; nothing was called and nothing was written.\n${d.diff}\nRun it with the code it began with, or fork it at a seq before the difference.`,
  ),
  REPLAY_MISSING: row(
    'missing',
    (d) =>
      `The tape of run ${d.run} has no ${d.begun ? 'outcome' : 'record'} of ${d.call}. A strict replay executes nothing: nothing was called and nothing was written. Open the run without replay: 'strict' to continue it, or replay it with the code it began with.`,
  ),
  EFFECT_FAILED: row(
    'unavailable',
    (d) =>
      `The effect '${d.effect}' failed after ${d.attempts} attempt(s): ${d.reason}. The error is recorded; replay throws it again without calling the effect.`,
  ),
  EFFECT_NESTED: row(
    'invalid',
    (d) =>
      `The effect '${d.effect}' was asked for inside the work of the effect '${d.inside}' of run ${d.run} (${d.state}). Nothing was recorded: replay does not call the work, so '${d.effect}' would be missing. Ask for it before or after '${d.inside}', or call its function directly.`,
  ),
  EFFECT_AMBIGUOUS: row(
    'invalid',
    (d) =>
      `The run ${d.run} (${d.state}) has several unresolved effects named '${d.effect}': ${d.places}. Nothing was written. Pick one by its branch and ordinal.`,
  ),
  EFFECT_UNKNOWN: row(
    'missing',
    (d) =>
      `The run ${d.run} (${d.state}) has no unresolved effect named '${d.effect}'. Nothing was written. Look up the name on its tape: inkfast runs tape.`,
  ),
  EFFECT_SETTLED: row(
    'conflict',
    (d) => `The effect '${d.effect}' of run ${d.run} (${d.state}) already has an outcome, and the first one counts. Nothing was written.`,
  ),
  RESULT_INVALID: row('invalid', (d) => {
    const of = d.run ? ` of run ${d.run} (${d.state})` : ''
    const then = d.run ? 'Nothing was recorded, so an effect will be called again.' : 'Nothing was written.'
    return `The value of ${d.of}${of} cannot be stored exactly: found ${d.why}. ${then} ${insteadOf(String(d.why))}`
  }),
  SHAPE_INVALID: row('invalid', (d) => {
    const issues = (Array.isArray(d.issues) ? d.issues : []) as readonly { readonly path: string; readonly message: string }[]
    const more = Number(d.found) - issues.length
    const told = issues.map(({ path, message }) => `${message} at ${path}`).join('; ')
    return `The ${d.of} does not have its declared shape: ${told}${more > 0 ? `; and ${more} more` : ''}. Nothing was written. Correct the value, or the schema.`
  }),
  USAGE_INVALID: row('invalid', (d) => `Invalid usage for ${d.of ?? `run ${d.run} (${d.state})`}: ${d.why}. Nothing was counted.`),
  APPROVAL_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no approval ${d.id} in tenant ${d.tenant}. Nothing was written. List the pending approvals to find the id: inkfast approvals.`,
  ),
  APPROVAL_CLOSED: row(
    'conflict',
    (d) =>
      `The approval ${d.id} is already ${d.state}, and the first decision counts. Nothing was changed. Read it with inkfast approvals show.`,
  ),
  APPROVAL_DENIED: row('denied', (d) => {
    const outcome = d.state === 'expired' ? 'expired without a decision' : `was ${d.state}${d.by ? ` by ${d.by}` : ''}`
    return `'${d.subject}' ${outcome}. The outcome is recorded, and replay throws it again. Catch this error if the program can continue without approval.`
  }),
  INPUTS_FULL: row(
    'exhausted',
    (d) =>
      `The run ${d.run} (${d.state}) already has ${d.limit} inputs, the most it can take. Nothing was written. Send the input to the next turn with { turn: 'next' }.`,
  ),
  INBOX_CLAIM_UNKNOWN: row(
    'missing',
    (d) =>
      `The run ${d.run} (${d.state}) does not hold the inbox claim ${d.claim}. Nothing was completed or released. Complete or release each claim once, with the id that run.inbox returned.`,
  ),
  INBOX_CLAIM_LOST: row(
    'conflict',
    (d) =>
      `The run ${d.run} lost its inbox claim ${d.claim}: ${d.holder ? `the run ${d.holder}` : 'another run'} took over inbox item ${d.batch}. Nothing was written. Stop this work; the new holder does it.`,
  ),
  APPROVAL_FORBIDDEN: row(
    'denied',
    (d) =>
      `${d.by ?? 'An unnamed caller'} may not decide the approval ${d.id}. Nothing was written. Let one of its deciders decide, and pass who decides as by.`,
  ),
  APPROVAL_OTHER: row(
    'conflict',
    (d) =>
      `The approval ${d.id} asks for ${d.asked ?? 'something that was erased'}, but the decision is about ${d.digest ?? 'something else'}. Nothing was decided. Read the approval again and decide with its digest.`,
  ),
  PERMIT_UNKNOWN: row(
    'missing',
    (d) => `There is no permit ${d.id} in tenant ${d.tenant}. Nothing was written. List the permits with store.approvals.permits.list().`,
  ),
  RANGE_INVALID: row('invalid', (d) => `Invalid query: ${d.why}. Nothing was read or written.`),
  CURSOR_INVALID: row(
    'invalid',
    () => 'The cursor does not belong to this list. Nothing was read. Pass the cursor back unchanged, with the same filter.',
  ),
  SCHEDULE_INVALID: row(
    'invalid',
    (d) =>
      `Invalid schedule: ${d.why}. Nothing was written. Use { cron: '0 9 * * 1-5', zone: 'Europe/Paris' }, { every: '15m' } or { at: date }.`,
  ),
  ZONE_UNKNOWN: row(
    'invalid',
    (d) =>
      `This Node does not know the time zone '${d.zone}'. Nothing was written. Use an IANA name such as Europe/Paris; a newly created zone needs a newer Node.`,
  ),
  DURATION_INVALID: row(
    'invalid',
    (d) =>
      `'${d.duration}' is not a duration. Nothing was written. Use '30s', '5m', '2h', '3d' or a number of milliseconds, at most 1000 years.`,
  ),

  // sessions
  SESSION_UNKNOWN: row(
    'missing',
    (d) => `There is no session ${d.session} in tenant ${d.tenant}. Nothing was written. Open one with store.session(key).`,
  ),
  SESSION_ARCHIVED: row(
    'denied',
    (d) => `Session ${d.session} is archived and accepts no new events. Nothing was written. Call session.reopen() first.`,
  ),
  SESSION_CHANGED: row(
    'conflict',
    (d) =>
      `Session ${d.session} is at revision ${d.found}, you expected ${d.expect}. Nothing was written. Read the session again and decide again.`,
  ),
  SESSION_DELETED: row(
    'denied',
    (d) => `Session ${d.session} was deleted. Nothing was read or written. Open a new session with the same key.`,
  ),

  // erasing
  SESSION_OWNED: row(
    'denied',
    (d) =>
      `Session ${d.session} belongs to ${d.ownerless ? 'nobody' : 'another owner'}, not to ${d.owner}. Nothing was opened; use another key, or leave \`owner\` out.`,
  ),
  EVENT_UNKNOWN: row(
    'missing',
    (d) => `There is no event ${d.seq} in tenant ${d.tenant}; its last event is ${d.head}. Nothing was erased.`,
  ),
  ERASE_REFUSED: row(
    'denied',
    (d) => `The payload of event ${d.seq} (${d.type}) cannot be erased: it is the proof that other payloads were. Nothing was erased.`,
  ),

  // blobs
  BLOB_UNKNOWN: row('missing', (d) =>
    d.at === undefined
      ? `There is no blob ${d.digest} in tenant ${d.tenant}. Nothing was read or written. Put its bytes again, or restore them from a backup; the journal does not contain them.`
      : `The object at ${d.at} looks like the reference of a blob (digest and bytes), and there is no blob ${d.digest} in tenant ${d.tenant}. Nothing was written. Put its bytes first. If it never was a blob, write the digest as sha256:…, or the number under another name, such as size.`,
  ),
  BLOB_DAMAGED: row(
    'corrupt',
    (d) =>
      `The blob ${d.digest} of tenant ${d.tenant} is damaged: its ${d.bytes} stored bytes have another digest. Nothing was returned or changed. Keep a copy for examination and restore a backup.`,
  ),
  BLOB_TOO_LARGE: row(
    'invalid',
    (d) =>
      `The blob has ${d.bytes} bytes; the limit is ${d.limit}. Nothing was written or returned. Split it into several blobs, or read it in parts with \`blobs.stream\`.`,
  ),

  ARTIFACT_MISMATCH: row(
    'invalid',
    (d) =>
      `The reference ${d.reference} in the namespace ${d.namespace} does not name these bytes, which are ${d.found}. Nothing was written. Pass the bytes that the reference names, or the reference of these bytes.`,
  ),
  ENV_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no execution environment ${d.env} in tenant ${d.tenant}. Nothing was written. Put it with \`artifacts.putEnvironment\`, and pass the name that it returns.`,
  ),

  // values
  VALUE_REF_INVALID: row(
    'invalid',
    (d) =>
      `${d.ref} is not the ref of a value. Nothing was read or written. Pass the text that \`values.put\` returned: \`value:\` and 43 characters.`,
  ),
  VALUE_MISSING: row('missing', (d) =>
    d.at === undefined
      ? `There is no value ${d.ref} in tenant ${d.tenant}. Nothing was read or written. It was never put, or garbage collection removed it: put it again.`
      : `The text at ${d.at} looks like the ref of a value, and there is no such value as ${d.ref} in tenant ${d.tenant}. Nothing was written. Put the value first. If it never was a value, write other text before or after it.`,
  ),
  VALUE_DAMAGED: row(
    'corrupt',
    (d) => `The value ${d.ref} is damaged: ${d.why}. Nothing was returned or changed. Keep a copy for examination and restore a backup.`,
  ),
  VALUE_TOO_LARGE: row(
    'invalid',
    (d) =>
      `The value is larger than ${d.limit} bytes. Nothing was written or returned. Store its large parts as blobs, or read it in parts with \`values.slice\`.`,
  ),
  STATE_CHANGED: row(
    'conflict',
    (d) =>
      `The state under ${JSON.stringify(d.key)} is at revision ${d.found}, not ${d.expect}. Nothing was written. Read it again and decide again.`,
  ),
  // patches and canvases
  PATCH_INVALID: row(
    'invalid',
    (d) =>
      `Operation ${d.operation} of the patch is not valid (RFC 6902): ${d.why}. Nothing was changed. Correct the operation; the first one is number 0.`,
  ),
  PATCH_FAILED: row(
    'conflict',
    (d) =>
      `Operation ${d.operation} of the patch does not fit the document at '${d.path}': ${d.why}. Nothing was changed. Read the document again and make a new patch.`,
  ),
  PATCH_TEST_FAILED: row(
    'conflict',
    (d) =>
      `Operation ${d.operation} of the patch tested '${d.path}' and found another value. Nothing was changed. Read the document again and make a new patch.`,
  ),
  PATCH_TOO_LARGE: row(
    'exhausted',
    (d) =>
      `The patch is beyond its limit of ${d.limit} ${d.unit}${d.operation === undefined ? '' : ` at operation ${d.operation}`}. Nothing was changed. Split it into several patches, or store large parts as values.`,
  ),
  // threads and messages
  THREAD_UNKNOWN: row(
    'missing',
    (d) => `Session ${d.session} has no thread ${d.thread}. Nothing was written. Create it with \`session.threads.create\`.`,
  ),
  THREAD_CLOSED: row('denied', (d) => `Thread ${d.thread} is ${d.state}. Nothing was written. Reopen it, or use another thread.`),
  MESSAGE_INVALID: row(
    'invalid',
    (d) => `Invalid message ${JSON.stringify(d.message)}: ${d.why}${d.path ? ` at ${d.path}` : ''}. Nothing was written. Correct it.`,
  ),
  MESSAGE_FORGED: row(
    'denied',
    (d) =>
      `A client may not send message ${JSON.stringify(d.message)} like this: ${d.why}, at ${d.path}. Nothing was written. Let the client load the messages of the thread again; decide an approval in the store before its answer is added.`,
  ),
  MESSAGE_UNKNOWN: row(
    'missing',
    (d) => `Thread ${d.thread} has no message ${JSON.stringify(d.message)}. Nothing was written. List the messages of the thread.`,
  ),
  MESSAGE_ELSEWHERE: row(
    'conflict',
    (d) => `Message ${JSON.stringify(d.message)} belongs to thread ${d.found}, not to ${d.thread}. Nothing was written. Use another id.`,
  ),
  MESSAGE_ERASED: row(
    'denied',
    (d) => `Message ${JSON.stringify(d.message)} was erased, and its id stays taken. Nothing was written. Use another id.`,
  ),
  MESSAGE_PARENT_INVALID: row(
    'invalid',
    (d) =>
      `The parent ${JSON.stringify(d.parent)} of message ${JSON.stringify(d.message)} cannot be used: ${d.why}. Nothing was written. Add the parent first, or name another one.`,
  ),
  TOOL_CALL_MISSING: row(
    'invalid',
    (d) =>
      `Message ${JSON.stringify(d.message)} has a result of tool call ${JSON.stringify(d.toolCallId)}, and no such call. Nothing was written of it. Add the call first.`,
  ),
  CHUNK_INVALID: row(
    'invalid',
    (d) =>
      `The chunk ${JSON.stringify(d.type)} for message ${JSON.stringify(d.message)} was refused: ${d.why}. The message stays as it is.`,
  ),
  MESSAGE_CHANGED: row(
    'conflict',
    (d) =>
      `Another writer changed message ${JSON.stringify(d.message)} while it was streamed. Nothing more was written. Read it again, and begin a new stream.`,
  ),
  CANVAS_CHANGED: row(
    'conflict',
    (d) =>
      `The canvas ${JSON.stringify(d.canvas)} is at version ${d.found}, not ${d.expect}. Nothing was written. Read it again and make a new patch.`,
  ),
  CANVAS_CLOSED: row(
    'conflict',
    (d) =>
      `The canvas ${JSON.stringify(d.canvas)} was closed at version ${d.version}: ${d.reason || 'the reason was erased'}. Nothing was written. It can still be read; continue in another canvas.`,
  ),
  CANVAS_UNKNOWN: row(
    'missing',
    (d) => `There is no canvas ${JSON.stringify(d.canvas)} in this session. Nothing was written. Patch it first, or list the canvases.`,
  ),
  CANVAS_VERSION_UNKNOWN: row(
    'missing',
    (d) =>
      `The canvas ${JSON.stringify(d.canvas)} has no version ${(d.version as number) < 0 ? 'to go back to' : d.version}: ${d.why}. Nothing was written. See its versions with history().`,
  ),
  CANVAS_TOO_LARGE: row(
    'exhausted',
    (d) =>
      `The document of the canvas ${JSON.stringify(d.canvas)} would have ${d.bytes} bytes; the limit is ${d.limit}. Nothing was written. Store large parts as values or blobs, or open the store with a larger canvas.documentBytes.`,
  ),
  CANVAS_DAMAGED: row(
    'corrupt',
    (d) =>
      `The canvas ${JSON.stringify(d.canvas)} of session ${d.session} cannot be read from version ${d.version} on: ${d.why}. Nothing was changed; other canvases and earlier versions can be read. Make a new document or an earlier version the present one with replace() or restore(), or restore a backup.`,
  ),
  RATE_LIMITED: row(
    'exhausted',
    (d) =>
      `The canvas ${JSON.stringify(d.canvas)} has had ${d.limit} updates within a minute. Nothing was written. Try again in ${d.waitMs} ms, and put several changes into one patch.`,
  ),
  COMPONENT_LOST: row(
    'corrupt',
    (d) =>
      `The component ${JSON.stringify(d.component)} of the checkpoint is ${d.why} (${d.ref}). Nothing was returned or changed. Restore it from a backup, or continue from an earlier checkpoint.`,
  ),
  CHECKPOINT_UNREADABLE: row(
    'corrupt',
    (d) =>
      `The manifest of the checkpoint cannot be read: ${d.why}. Nothing was returned or changed. Read it with the version that wrote it.`,
  ),
  CHECKPOINT_BUSY: row(
    'conflict',
    (d) =>
      `The run ${d.run} (${d.state}) cannot save a checkpoint while these calls have no answer: ${d.open}. Nothing was written. Await them first, because replay after a checkpoint does not ask for them again.`,
  ),
  CHECKPOINT_UNDERWAY: row(
    'conflict',
    (d) =>
      `The run ${d.run} (${d.state}) is ${d.underway} a checkpoint, so it can ask for nothing else. Nothing was called or written by this call. Await run.checkpoint() or run.restore() first, because a call made meanwhile would be lost to replay.`,
  ),
  RESTORE_LATE: row(
    'invalid',
    (d) =>
      `The run ${d.run} (${d.state}) has already asked for something, so it cannot restore a checkpoint. Nothing was changed. Make restore() the first call of the program, and call it once.`,
  ),
  SNAPSHOT_OLDER: row(
    'conflict',
    (d) =>
      `The snapshot of ${d.execution} covers events up to seq ${d.seq}; the stored one covers seq ${d.found}. Nothing was written. Load the stored snapshot and go on from there.`,
  ),
  SNAPSHOT_AHEAD: row(
    'invalid',
    (d) =>
      `The snapshot of ${d.execution} claims seq ${d.seq}, but the journal ends at seq ${d.head}. Nothing was written. Pass the seq of an event that was written.`,
  ),
  MEMORY_TEXT_INVALID: row(
    'invalid',
    (d) => `Invalid text for memory: ${d.why}. Nothing was written. Pass a text of 1 byte to 16 KiB that is not only recalled text.`,
  ),
  MEMORY_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no item of memory${d.id ? ` ${d.id}` : ' with this id'}. Nothing was written. It was never remembered, or it was forgotten, has expired or was purged.`,
  ),
  MEMORY_EXISTS: row(
    'conflict',
    (d) =>
      `The item ${d.other} of the same scope has this text already. The item ${d.id} was not changed. Purge the other one, also if it was forgotten or has expired, or keep it instead.`,
  ),
  CORE_TOO_LONG: row(
    'invalid',
    (d) =>
      `The block ${d.name} of core memory would have ${d.found} characters; ${d.limit} are the most. Nothing was written. Shorten it, or remember the rest as an item.`,
  ),
  CORE_CHANGED: row(
    'conflict',
    (d) =>
      `The block ${d.name} of core memory is at version ${d.found}, not ${d.expect}. Nothing was written. Read it again and decide again.`,
  ),
  CORE_TEXT_NOT_FOUND: row(
    'invalid',
    (d) =>
      `The text to replace occurs ${d.times} times in the block ${d.name} of core memory, not once. Nothing was written. Read the block and name a longer part.`,
  ),
  COLLECTION_REPLACED: row(
    'conflict',
    (d) =>
      `Another garbage collection of tenant ${d.tenant} has begun, so this one stopped. Nothing that is in use was deleted. Let the other one finish.`,
  ),
  COLLECTION_INTERRUPTED: row(
    'unavailable',
    (d) =>
      `The store failed during the garbage collection of tenant ${d.tenant} (${d.reason}). Nothing that is in use was deleted. Run collect() again: it deletes the rest.`,
  ),
  COLLECTION_UNKNOWN: row(
    'missing',
    (d) =>
      `There is no collection of vectors '${d.name}'. Nothing was written. Create it with store.vectors(name, { dimensions }), or list the collections with store.collections.list().`,
  ),
  COLLECTION_DIFFERS: row(
    'conflict',
    (d) =>
      `The collection '${d.name}' has ${d.setting} ${listed(d.found, ', ')}, not ${listed(d.expect, ', ')}. Nothing was written. Use its own settings, or another name.`,
  ),
  VECTOR_INVALID: row('invalid', (d) => `Invalid vector of ${d.of}: ${d.why}. Nothing was written. Correct the vector.`),
  EMBEDDER_MISSING: row(
    'invalid',
    () =>
      'This store was opened without an embedder, so no text was turned into a vector. Pass a vector, or open the store with { embedder }.',
  ),
  EMBEDDER_FAILED: row(
    'unavailable',
    (d) => `The embedder ${d.embedder} failed: ${d.why}. No vector was stored. Try again, or check the embedder.`,
  ),
  FILTER_INVALID: row('invalid', (d) => `Invalid filter: ${d.why} (at ${d.path}). Nothing was read or written. Correct the filter.`),
  VALUE_NOT_A_LIST: row(
    'invalid',
    (d) => `The value ${d.ref} is not a list. Nothing was read or written. Use \`values.get\` or \`values.field\` to read it.`,
  ),

  // conversations
  RECORD_VERSION_MISSING: row(
    'corrupt',
    (d) =>
      `The stored ${d.record} of ${d.id} has no schema version; this version of Inkfast reads ${d.expected}. Nothing was returned or changed. Rebuild the rows, or restore a backup.`,
  ),
  RECORD_VERSION_INVALID: row(
    'corrupt',
    (d) =>
      `The stored ${d.record} of ${d.id} has a schema version that is not a number (${d.found}); this version of Inkfast reads ${d.expected}. Nothing was returned or changed. Rebuild the rows, or restore a backup.`,
  ),
  RECORD_VERSION_UNEQUAL: row(
    'unavailable',
    (d) =>
      `The stored ${d.record} of ${d.id} has schema version ${d.found}; this version of Inkfast reads ${d.expected}. Nothing was returned or changed. Read it with the version that wrote it.`,
  ),
  TURN_HEAD_MOVED: row(
    'conflict',
    (d) =>
      `The head of session ${d.session} is at revision ${d.found}, not at the expected ${d.expected}. Nothing was written. Read the head again and decide again.`,
  ),
  OWNER_WALL: row(
    'denied',
    (d) => `This view of the store is limited to sessions of ${d.owner}. Nothing was read or written. Use the store that it was made from.`,
  ),
  FRAME_UNKNOWN: row(
    'missing',
    (d) => `Session ${d.session} has no frame ${JSON.stringify(d.frame)}. Nothing was written. Open it first with \`session.frames.open\`.`,
  ),
  FRAMES_FULL: row(
    'exhausted',
    (d) => `A session has at most ${d.limit} frames. Nothing was written. Use an open frame, or another session.`,
  ),
  NODE_UNKNOWN: row(
    'missing',
    (d) =>
      `The graph of session ${d.session} has no node ${JSON.stringify(d.node)}. Nothing was read or written. List its nodes with \`session.graph.list\`.`,
  ),
  NODE_DUPLICATE: row(
    'conflict',
    (d) => `The node id ${JSON.stringify(d.node)} is taken in the graph of session ${d.session}. Nothing was written. Choose another id.`,
  ),
  NODE_PARENT_UNKNOWN: row(
    'invalid',
    (d) =>
      `The parent ${JSON.stringify(d.parent)} of node ${JSON.stringify(d.node)} is not in the graph of session ${d.session}. Nothing was written. Add the parent in the same turn, or name an existing node.`,
  ),
  NODE_CYCLE: row(
    'invalid',
    (d) => `Node ${JSON.stringify(d.node)} is its own ancestor. Nothing was written. Pass nodes that form a tree.`,
  ),
  NODE_IN_USE: row(
    'conflict',
    (d) =>
      `Node ${JSON.stringify(d.node)} leads to the leaf ${JSON.stringify(d.leaf)} of session ${d.session}. Nothing was removed. Move the leaf first with \`session.graph.moveTo\`.`,
  ),
  LEAF_UNKNOWN: row(
    'invalid',
    (d) => `The leaf ${JSON.stringify(d.leaf)} is not in the graph of session ${d.session}. Nothing was written. Name a node of the graph.`,
  ),
  GRAPH_DAMAGED: row(
    'corrupt',
    (d) =>
      `The graph of session ${d.session} is damaged: the path from node ${JSON.stringify(d.node)} needs node ${JSON.stringify(d.missing)}, which is not there. Nothing was returned or changed. Rebuild the rows, or restore a backup.`,
  ),
  TURN_REUSED: row(
    'conflict',
    (d) =>
      `Turn ${JSON.stringify(d.turn)} of session ${d.session} was committed with other content, at revision ${d.revision}. Nothing was written. Use another turn id for another turn.`,
  ),
  TURN_CLAIM_NOT_HELD: row(
    'conflict',
    (d) =>
      `This turn does not hold the claim ${d.claim}: ${d.why}. Nothing was written. Pass the claims that the turn took, and no others.`,
  ),
  TURN_INPUT_NOT_HELD: row(
    'conflict',
    (d) =>
      `This turn does not hold the input ${d.input}: ${d.why}. Nothing was written. Pass the inputs that the turn took, and no others.`,
  ),
  TURN_UNSETTLED: row(
    'conflict',
    (d) =>
      `The turn has taken more than it settles: ${listed(d.left, ', ')}. Nothing was written. Pass all its claims and inputs; an interrupted turn may leave inputs out.`,
  ),
  ATTACHMENT_UNKNOWN: row(
    'missing',
    (d) =>
      `Session ${d.session} has no attachment ${d.attachment} with stored bytes. Nothing was written. Put the file first with \`session.attachments.put\`.`,
  ),
  ATTACHMENT_MISMATCH: row(
    'invalid',
    (d) =>
      `The bytes do not match the intent: ${d.member} is ${d.found}, not ${d.expected}. Nothing is stored. Pass the bytes that were announced.`,
  ),
  ATTACHMENT_COMMITTED: row(
    'conflict',
    (d) => `The attachment ${d.attachment} of session ${d.session} belongs to a turn. Nothing was removed. It goes with its session.`,
  ),
  FILE_NAME_INVALID: row(
    'invalid',
    (d) => `Invalid file name ${JSON.stringify(d.name)}: ${d.why}. Nothing was written. Pass a plain file name.`,
  ),

  // the lane
  OVERLOADED: row(
    'exhausted',
    (d) => `The write queue is full: ${d.waiting} commits (${d.bytes} bytes) are waiting. Nothing was written. Slow down and try again.`,
  ),
  OUTCOME_UNKNOWN: row(
    'unknown',
    (d) =>
      `The store did not answer (${d.reason}), so this commit may or may not have been saved. ${d.key ? 'Send the same command with the same key: it is written at most once.' : 'Settle a claim again: what was saved is found. Otherwise look for its events first, with store.event(id) and the ids in details.ids.'}`,
  ),
  BACKEND_FAILED: row(
    'unavailable',
    (d) => `The store failed (${d.reason}). Nothing of this commit was saved. Check store.health(), then try again.`,
  ),
  ABORTED: row('unavailable', () => 'The call was aborted by its signal.'),

  // damage
  ROW_DAMAGED: row(
    'corrupt',
    (d) =>
      `${d.id === undefined ? 'A row' : `The row ${d.id}`}${d.table === undefined ? '' : ` of the table ${d.table}`} is damaged: its body is ${d.why}. Nothing was returned or changed. See what differs with store.rebuild({ check: true }), keep a copy of the store, and make the rows again from the journal with store.rebuild().`,
  ),
  JOURNAL_BROKEN: row(
    'corrupt',
    (d) =>
      `The journal of tenant ${d.tenant} differs from what was written: ${d.reason} at seq ${d.seq}. Nothing was changed. Keep a copy of the store and restore a backup.`,
  ),
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errors

/** Control characters, line separators and marks that change the direction of text. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * A message quotes names and values of the caller. Raw control characters in them could forge log lines or move the cursor, and long ones would
 * hide what the message says. The details have them whole.
 */
function messageOf(code: ErrorCode, details: Details): string {
  // A quoted reason is often a sentence of its own, with its full stop.
  const say = (of: Details) => errors[code].say(of).replace(/(?<=[\w)'"`])\.\.(?= [A-Z]|$)/g, '.')
  const shorten = (name: string, text: string): string => {
    // Names of our own options are no input.
    if (name === 'known') return text
    return name === 'diff' ? text.split('\n').map(shortened).join('\n') : shortened(text)
  }
  const short = each(details, shorten, fewer)
  const message = say(short)
  if (!CONTROL.test(message)) return message
  return escaped(say(each(short, (name, value) => escaped(value, name === 'diff' ? '\n' : ''))), '\n')
}

type Items = readonly unknown[]

const isRecord = (value: unknown): value is Details => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Changes every text in the details, and every list. */
function each(details: Details, change: (name: string, text: string) => string, list = (items: Items): Items => items): Details {
  const one = (name: string, value: unknown): unknown => {
    if (typeof value === 'string') return change(name, value)
    if (Array.isArray(value)) return list(value.map((item) => (isRecord(item) ? each(item, change) : one(name, item))))
    return value
  }
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [name, one(name, value)]))
}

/** Leaves the middle out, because both ends tell where a text comes from. */
function shortened(text: string): string {
  if (text.length <= limits.quotedChars) return text
  const tail = Math.floor(limits.quotedChars / 3)
  return `${text.slice(0, limits.quotedChars - tail - 1)}…${text.slice(-tail)}`.toWellFormed()
}

/** The first items of a list, as many as a message quotes. */
function fewer(items: Items): Items {
  let chars = 0
  const end = items.findIndex((item) => {
    chars += String(item).length
    return chars > limits.quotedChars
  })
  return end < 0 ? items : [...items.slice(0, end), `${items.length - end} more`]
}

function escaped(text: string, kept: string): string {
  return text.replace(new RegExp(CONTROL, 'gu'), (char) =>
    char === kept ? char : (SHORT_ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

export class InkError extends Error {
  override readonly name = 'InkError'
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly details: Details

  constructor(code: ErrorCode, details: Details = {}, cause?: unknown) {
    super(messageOf(code, details), cause === undefined ? undefined : { cause })
    this.code = code
    this.kind = errors[code].kind
    this.details = details
  }
}

/** Creates the error to throw: `throw refuse('HEAD_MOVED', { … })`. */
export const refuse = (code: ErrorCode, details: Details = {}, cause?: unknown): InkError => new InkError(code, details, cause)

/**
 * Creates an error without a stack trace, for refusals that come by the thousand: capturing the stack costs more than the refused
 * work. The code alone tells where it was thrown.
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

/** Checks an invariant of our own: a failure is a bug in Inkfast, not a mistake of the caller. */
export function assert(condition: unknown, promise: string): asserts condition {
  if (!condition) throw new Error(`Broken promise inside Inkfast: ${promise}. Please report this.`)
}
