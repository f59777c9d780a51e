// Limits that a user can meet, each with its reason. Constants of one algorithm stay beside the code that uses them.

const KiB = 1024
const MiB = 1024 * KiB

export const limits = {
  /** One event's payload. Larger things are blobs; a journal of small facts stays quick to verify and to page. */
  payloadBytes: 256 * KiB,
  /** The largest `payloadBytes` a store may be opened with: one event must fit a batch many times over. */
  payloadBytesMost: 8 * MiB,
  /** A masked payload may be this many times `payloadBytes`: a mask is longer than a short secret. */
  maskedTimes: 4,
  /** Deeper JSON is almost always a cycle or an attack on a recursive reader. */
  dataDepth: 64,
  /** `noun.verbed` stands in a header that is never erased, and in an index. */
  typeBytes: 128,
  /** An opaque id in a header that is never erased. */
  actorChars: 64,
  /** Tenant ids are repeated in every key and index. */
  tenantChars: 64,
  /** User-chosen keys (`support/4711`, `req-81`) are index entries; longer ones belong in the data. */
  keyBytes: 512,
  /** A title is shown in a list. */
  titleChars: 1024,
  /** Free metadata on a session; it is rewritten with every change of the row. */
  metadataBytes: 16 * KiB,
  /** What the message of an error quotes of a text or of a list. Its details have them whole. */
  quotedChars: 200,
  /** Why something was erased: a sentence, kept for ever. */
  reasonChars: 1024,
  /** `recent()` answers from memory: enough for one screen. */
  recentEvents: 100,
  /** The default time budget of one write, from the call to the receipt: an agent should not notice that it is recorded. */
  writeBudgetMs: 25,
  /** Breaches of the write budget are always counted, and logged at most this often. */
  breachLogEveryMs: 60_000,
  /** The window in which `health` compares breaches of the write budget with all writes. */
  breachMemoryMs: 60_000,
  /** `health` reports `degraded` while at least this share of the writes in the window took longer than the budget. */
  breachShare: 0.1,
  /** With fewer breaches than this in the window, the share says nothing: a store that rests writes little. */
  breachesLeast: 5,
  /** Commits waiting in the lane. Beyond this, callers get `OVERLOADED` at once, and memory stays bounded. */
  laneCommits: 16_384,
  /** Bytes waiting in the lane, for the same reason. */
  laneBytes: 64 * MiB,
  /** Commits in one flush: large enough that the flush is shared, small enough that one batch stays within the write budget. */
  batchCommits: 512,
  /** Bytes in one flush, for the same reason. */
  batchBytes: 4 * MiB,
  /** Events in one commit: `appendAll` is one all-or-nothing write, and a batch must not starve its neighbours. */
  commitEvents: 4096,
  /** Payloads of one commit together: it is written in one piece, and other writers wait for it. */
  commitBytes: 16 * MiB,
  /** A backend that has not answered by then may or may not have saved: the commit is sent again under its ids. */
  commitTimeoutMs: 30_000,
  /** The longest duration, a thousand years: a clock plus any of them is still a date, and a whole number everywhere. */
  durationMs: 365_000 * 24 * 60 * 60 * 1000,
  /** The least number of attempts of a write when other writers keep changing its rows. */
  conflictRetries: 16,
  /** How long such a write is retried. On a slow machine it may take twice as long to have its attempts. */
  conflictMs: 10_000,
  /** Events read at a time; a page is parsed in well under a slice. */
  pageEvents: 512,
  /** Bytes of payload in one page: pages of large events stay small. */
  pageBytes: 2 * MiB,
  /** How far the id and the time of an event that a caller gives may be ahead of the store's clock: clocks of machines differ. */
  clockAheadMs: 5 * 60 * 1000,
  /** SQLite: how far a clock may be ahead of the newest time in the file. Beyond it nothing is removed by that clock. Well below `collectGraceMs`. */
  clockLeapMs: 60 * 60 * 1000,
  /** SQLite: for so long no process may read a smaller time before a leap of the clock is trusted: a wrong clock is mostly corrected sooner. */
  clockProofMs: 60 * 60 * 1000,
  /** SQLite: how often a process compares its clock with the file, several times within `clockProofMs`. */
  clockLookMs: 15 * 60 * 1000,
  /** Types and prefixes in one query: each is a condition in the statement. */
  typePatterns: 64,
  /** The most a caller may ask for in one list. */
  listRows: 1000,
  /** Long work yields to the event loop after this long: a fifth of the write budget. */
  sliceMs: 5,
  /** Bytes of payload in one step of long work, so that a step fits a slice. */
  sliceBytes: 256 * KiB,
  /** Receipts of keyed commits are kept this long; a retry later than that is a new command. */
  receiptsKeptMs: 30 * 24 * 60 * 60 * 1000,
  /** Entries in one segment of a tape: so much is read to find the end of a long run. */
  tapeSegment: 1024,
  /** Inputs and results beyond this are stored as a blob: a tape stays quick to replay. */
  inlineBytes: 32 * KiB,
  /** Names of runs, effects, signals and branches: shown in lists, and part of every entry. */
  runNameChars: 200,
  /** The message of a recorded error, and its details as JSON: services answer with whole pages. */
  errorChars: 4000,
  /** The name and the code of a recorded error. */
  errorNameChars: 200,
  /** The stack of a recorded error: 40 frames or more. */
  errorStackChars: 8000,
  /** Causes of a recorded error: each names one layer of the program, and the last ones are libraries. */
  errorCauses: 8,
  /** A recorded error with its stacks and causes: it stands in rows that lists read. */
  errorBytes: 32 * KiB,
  /** How long a lease lasts without a renewal. */
  leaseMs: 30_000,
  /** How often it is renewed: two in a row may fail. */
  leaseRenewMs: 10_000,
  /** Streamed text of an effect is recorded once it is this long. */
  streamChars: 4096,
  /** Streamed text is recorded once it is this old: a person watches it, and sees it in another process within 300 ms. */
  streamMs: 150,
  /** Streamed text that was recorded is read again up to this far back: it may name the secret that follows. */
  streamContextChars: 1024,
  /** A secret or a word in streamed text that is longer than this is recorded in parts. */
  streamHeldMostChars: 16 * KiB,
  /** A refusal lists so many places where a value does not have its declared shape; more would hide the first one. */
  shapeIssues: 10,
  /** The path and the message of such a place: schemas quote what they were given. */
  shapeIssueChars: 200,
  /** A program that makes no call for this long during replay, while its tape has more, has diverged. */
  replayQuietMs: 2000,
  /** A run whose waits are all longer than this is parked instead of staying in memory. */
  parkMs: 5000,
  /** A run whose nodes die this often in a row is failed: it would kill the next one too. */
  runStrikes: 10,
  /** Inputs for a run, or taken by it: the commit that ends the run settles all of them. */
  runInputs: 2000,
  /** Inbox items that a run has claimed: the commit that ends the run settles all of them. */
  runBatches: 1000,
  /** Inputs or inbox items taken at a time: they stand in one entry of the tape. */
  takenAtOnce: 64,
  /** Bytes of content taken at a time. The rest comes with the next call. */
  takenBytes: 128 * KiB,
  /** How often a node polls for work without a wake-up. */
  lookEveryMs: 1000,
  /** A node stops watching a tenant that has had nothing due for this long. It still polls for its work. */
  unwatchAfterMs: 60_000,
  /** How often a working process says in the store what it handles. */
  workerRenewMs: 5000,
  /** How long such a process counts as live without saying so again: two in a row may fail. */
  workerLiveMs: 15_000,
  /** How long the store remembers a worker that has ended. */
  workerKeptMs: 60 * 60 * 1000,
  /** A run or an item that has waited this long, while no live worker handles its name, is reported. */
  unhandledMs: 5000,
  /** Default attempts of a work item: enough for a temporary failure. */
  workAttempts: 5,
  /** Default backoff after the first failure of a work item. */
  workBackoffMs: 1000,
  /** Longest backoff: an item that failed for an hour is worth a retry within the next. */
  workBackoffMostMs: 60 * 60 * 1000,
  /** Priority of a work item, up or down: each one in use costs a query of its own. */
  workPriority: 100,
  /** Items that a worker reads ahead, for each of its slots: they need not be read again. */
  workAhead: 4,
  /** Items that a worker reads ahead at least: a read costs as much as a commit. */
  workAheadLeast: 64,
  /** A worker reads again after this long: something more urgent may have come. */
  workAheadMs: 200,
  /** Items read at a time, however many slots a worker has. */
  workWindow: 1024,
  /** Items that a worker prefetches at most, while its handlers are quick. */
  workReserve: 256,
  /** A worker prefetches no more items than it handles in this time. */
  workReserveMs: 10,
  /** Prefetched items that have waited this long are released. */
  workReserveHeldMs: 250,
  /** Rows of items that one commit claims together: it is written in one piece, and others wait for it. */
  workTogetherBytes: 256 * KiB,
  /** Occurrences in one backfill: all of them are offered as work items. */
  backfillOccurrences: 10_000,
  /** Deciders of one approval: the list is stored with it. */
  approvalDeciders: 100,
  /** Recorded deliveries, and people who have seen it, of one approval: its row stays small. */
  approvalNotes: 50,
  /** The scheduler closes an expired question of a run after this long: no node executed the run to do it. */
  approvalGraceMs: 30_000,
  /** The scheduler finishes erasing a deleted session after this long: the caller has died, or is slow. */
  deletionGraceMs: 60_000,
  /** Rows that one list reads for a filter without an index; it then returns a cursor. */
  listLooks: 10_000,
  /** Characters of a text that a list of sessions is searched for: words beyond them are left out. */
  listTextChars: 1000,
  /** Types of events that one process declares: they are stored in its row. */
  processEventTypes: 100,
  /** The longest pause before a node looks again at a process whose owner is in doubt. */
  processRestMostMs: 60 * 60 * 1000,
  /** Rows of processes that one commit removes. */
  prunedAtOnce: 500,
  /** Levels of a value. Agents nest state deeper than facts; deeper still is almost always a cycle. */
  valueDepth: 512,
  /** Size of a value: its texts, and eight bytes for every element. It is in memory as a whole when it is put. */
  valueBytes: 256 * MiB,
  /** Nodes of values that a process keeps in memory. */
  valueCacheBytes: 16 * MiB,
  /** Names of nodes that a process remembers, so that they are not sent again. */
  valueNodesKnown: 100_000,
  /** Content that nothing refers to yet is kept this long: a program refers to it soon after it put it. */
  collectGraceMs: 24 * 60 * 60 * 1000,
  /** On a server, an upload of a process on another machine is taken for dead once nothing was added for this long. */
  uploadQuietMs: 24 * 60 * 60 * 1000,
  /** Large data whose commit is still to come, kept in memory so that it can be put again if a collection deleted it. */
  freshBlobBytes: 64 * MiB,
  /** Components of one checkpoint: their refs stand in the row of the run, which is written often. */
  checkpointComponents: 64,
  /** Key-value state up to this size stands in its event; larger state is a value. */
  stateInlineBytes: 1 * KiB,
  /** Entries of key-value state in one write: each is an event and a row of one commit, which other writers wait for. */
  stateChanges: 1000,
  /** Operations of one JSON Patch: each may copy the containers on its way. */
  patchOperations: 1000,
  /** Levels of a document that is patched, as for values. */
  patchDepth: 512,
  /** Bytes that one patch adds and copies, as JSON: a patch of copies alone could double a document with each. */
  patchBytes: 1 * MiB,
  /** The text of one item of memory. Longer texts are split by the caller, or stored as a blob and summarised. */
  memoryTextBytes: 16 * KiB,
  /** Tags of one item: each is an index entry. */
  memoryTags: 64,
  /** One tag, or the type of a link. */
  memoryTagBytes: 128,
  /** Metadata of one item: every scalar in it is an index entry. */
  memoryMetadataBytes: 4 * KiB,
  /** A name and a value of the metadata that can be filtered by: an index entry has a size that every database accepts. */
  memoryMarkBytes: 512,
  /** Hits of one recall: they go into a prompt. */
  recallHits: 64,
  /** Characters of a question: words beyond them are left out. */
  recallChars: 32 * 1024,
  /** Scopes, kinds and values of metadata in one filter: each is a parameter of one statement. */
  memoryFilterValues: 1000,
  /** Links from one item: they stand in its row. */
  memoryLinks: 256,
  /** Characters of the block `persona` of core memory. Blocks are in every prompt. */
  corePersonaChars: 2000,
  /** Characters of the block `human`. */
  coreHumanChars: 2000,
  /** Characters of the block `scratchpad`. */
  coreScratchpadChars: 1000,
  /** Characters of any other block, unless `limit` is given. */
  coreBlockChars: 1000,
  /** The largest `limit` of a block. */
  coreBlockCharsMost: 20_000,
  /** The name of a block. */
  coreNameChars: 64,
  /** A message up to this size stands in its event, as JSON text; a larger one is a value. */
  messageInlineBytes: 32 * KiB,
  /** Messages that one call adds or lists: they are in memory at once. */
  messagesAtOnce: 1000,
  /** A streamed message is written this often: a person watches it, sees it in another process within 300 ms, and a crash loses no more. */
  messageStreamMs: 150,
  /** Threads kept in memory, so that a message is added without reading its thread. */
  threadsRemembered: 10_000,
  /** Frames of one session: they stand in the row of its head. */
  sessionFrames: 1000,
  /** Nodes of a path that one call returns: they are in memory at once. */
  pathNodes: 10_000,
  /** Nodes that one turn adds: they are one commit. */
  turnNodes: 1000,
  /** The document of a canvas, as JSON. It is in memory as a whole, and a root replacement stands in one event. */
  canvasBytes: 64 * KiB,
  /** Levels of the document of a canvas: an event holds it a few levels down. */
  canvasDepth: 56,
  /** Updates of one canvas in a minute: people and agents stay below, a loop without an end does not. */
  canvasUpdates: 120,
  /** Patches between two snapshots of a canvas: at most this many are applied to read any version. */
  canvasSnapshotEvery: 64,
  /** Patches between two snapshots that compaction keeps. */
  canvasReplay: 256,
  /** Canvases that one recovery loads; the others open on demand. */
  canvasRecovered: 10_000,
  /** Versions of a canvas read at a time. */
  canvasPage: 1000,
  /** Updates of a canvas that one commit writes, and missed patches that a subscription measures against a small document. */
  canvasBatch: 64,
  /** Documents of canvases that a process keeps in memory. */
  canvasCacheBytes: 16 * MiB,
  /** The file name of an attachment, in bytes: file systems have this limit. */
  fileNameBytes: 255,
  /** Attachments that one turn commits. */
  turnAttachments: 100,
  /** One blob. It is written and read in pieces of 1 MiB, so only the disk and the index of its pieces limit it. */
  blobBytes: 16 * 1024 * MiB,
  /** Bytes of a blob that one `get` returns: they are in memory at once. `stream` reads any number. */
  blobGetBytes: 512 * MiB,
  /** A blob with the hint `inline-preferred` is stored in the database up to this size. */
  blobInlineBytes: 16 * KiB,
  /** A blob with the hint `compressible` is compressed from this size on. */
  blobCompressBytes: 4 * KiB,
  /** The same in the profile `compact`. */
  blobCompressCompactBytes: KiB,
  /** The kind and each hint of a blob: every reference to it contains them. */
  blobWordChars: 64,
  /** Hints of one blob, for the same reason. */
  blobHints: 16,
  /** A cron line: six fields with lists in them. */
  cronChars: 256,
  /** The shortest interval of a job, and of the times of a cron line. */
  everyLeastMs: 1000,
  /** The longest interval of a job: ten years. A longer one is a mistake in the unit. */
  everyMostMs: 3650 * 24 * 60 * 60 * 1000,
  /** The largest jitter of a job. */
  jitterMs: 24 * 60 * 60 * 1000,
  /** An occurrence that starts no later than this was not missed: as long as a lease, which is the time of a failover. */
  missedGraceMs: 30_000,
  /** How late a missed occurrence still starts with `missed: 'all'`, by default. */
  catchUpMs: 24 * 60 * 60 * 1000,
  /** Occurrences that start late after a downtime; older ones are recorded as missed, and counted up to here. */
  catchUpOccurrences: 1000,
  /** Occurrences of a job that one commit starts; the next commit starts more at once. */
  occurrencesAtOnce: 100,
  /** Compiled cron lines kept in memory: each takes 80 KB. */
  linesRemembered: 100,
  /** Time zones kept in memory. */
  zonesRemembered: 500,
  /** Stretches of 32 days kept in memory per time zone, with their clock changes. */
  stretchesRemembered: 500,
  /** Triggers of one source: one firing reserves a delivery and an item for each of them, in one commit. */
  sourceTriggers: 500,
  /** Definition of a trigger, as JSON: every firing reads it, and every item contains its `with`. */
  triggerBytes: 8 * KiB,
  /** Numbers in one vector: the largest embedding models have 4,096. */
  vectorDimensions: 4096,
  /** Documents in one call of `upsert`: they are checked before the first is written. */
  vectorUpsert: 10_000,
  /** Documents in one commit of an upsert: other writers wait for it. */
  vectorsAtOnce: 64,
  /** Documents that one search returns: their rows are in memory at once. */
  vectorTop: 1000,
  /** Texts that an embedder gets at a time, unless it says otherwise: a failure repeats no more than these. */
  embedBatch: 64,
  /** How long an embedder may take for one batch, unless it says otherwise. */
  embedTimeoutMs: 30_000,
  /** How long the embedder of a question may take: a recall answers without it then. */
  recallEmbedMs: 2000,
  /** Items without a vector are embedded this often. */
  backfillEveryMs: 10 * 60 * 1000,
  /** Memory for collections of vectors, by default: 1.2 million vectors of 384 numbers. */
  vectorMemoryBytes: 512 * MiB,
  /** Levels of a metadata filter: deeper is almost always a cycle. */
  filterDepth: 16,
  /** Conditions in one metadata filter: each is evaluated for every document. */
  filterConditions: 1000,
  /** Refusals that the audit of a tenant keeps; the oldest are dropped. */
  auditRows: 10_000,
  /** Refusals of a tenant that a node records one by one in a second; more are only counted, so that a flood cannot fill the audit. */
  auditPerSecond: 100,
  /** Session revisions kept in memory. */
  sessionsRemembered: 10_000,
} as const
