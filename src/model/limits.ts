// Limits that a user can meet, each with its reason. Constants of one algorithm stay beside the code that uses them.

const KiB = 1024
const MiB = 1024 * KiB

export const limits = {
  /** One event's payload. Larger things are blobs; a journal of small facts stays quick to verify and to page. */
  payloadBytes: 256 * KiB,
  /** The largest `payloadBytes` a store may be opened with: one event must fit a batch many times over. */
  payloadBytesMost: 8 * MiB,
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
  /** Why something was erased: a sentence, kept for ever. */
  reasonChars: 1024,
  /** `recent()` answers from memory: enough for the screen of somebody who watches. */
  recentEvents: 100,
  /** The time budget of one write, from the call to the receipt: an agent should not notice that it is recorded. */
  writeBudgetMs: 25,
  /** Breaches of the write budget are counted always and logged at most this often. */
  breachLogEveryMs: 60_000,
  /** How long `health` keeps saying `degraded` after the last breach. */
  breachMemoryMs: 60_000,
  /** Commits waiting in the lane. Past this, `OVERLOADED` at the door: memory stays bounded, callers hear at once. */
  laneCommits: 16_384,
  /** Bytes waiting in the lane, for the same reason. */
  laneBytes: 64 * MiB,
  /** Commits in one flush: large enough that the flush is shared, small enough that one batch stays within the write budget. */
  batchCommits: 512,
  /** Bytes in one flush, for the same reason. */
  batchBytes: 4 * MiB,
  /** Events in one commit: `appendAll` is one all-or-nothing write, and a batch must not starve its neighbours. */
  commitEvents: 4096,
  /** Payloads of one commit together: it is written in one piece, and everybody waits for it. */
  commitBytes: 16 * MiB,
  /** A backend that has not answered by then may or may not have saved: the commit is sent again under its ids. */
  commitTimeoutMs: 30_000,
  /** The longest duration, a thousand years: a clock plus any of them is still a date, and a whole number everywhere. */
  durationMs: 365_000 * 24 * 60 * 60 * 1000,
  /** How often `execute` reads, decides and tries again when others keep changing the row. */
  conflictRetries: 16,
  /** Events read at a time; a page is parsed in well under a slice. */
  pageEvents: 512,
  /** Bytes of payload in one page: pages of large events stay small. */
  pageBytes: 2 * MiB,
  /** Types and prefixes in one query: each is a condition in the statement. */
  typePatterns: 64,
  /** The most a caller may ask for in one list. */
  listRows: 1000,
  /** Long work lets others run after this long: a fifth of the write budget. */
  sliceMs: 5,
  /** Bytes of payload in one step of long work, so that a step fits a slice. */
  sliceBytes: 256 * KiB,
  /** Receipts of keyed commits are kept this long; a retry later than that is a new command. */
  receiptsKeptMs: 30 * 24 * 60 * 60 * 1000,
  /** Entries in one segment of a tape: what has to be read to find the end of a long run. */
  tapeSegment: 1024,
  /** Inputs and results beyond this lie in a blob: a tape stays quick to replay. */
  inlineBytes: 32 * KiB,
  /** Names of runs, effects, signals and branches: shown in lists, and part of every entry. */
  runNameChars: 200,
  /** How long a lease is held without a renewal. */
  leaseMs: 30_000,
  /** How often it is renewed: two in a row may fail. */
  leaseRenewMs: 10_000,
  /** What an effect streams becomes an entry once it is this long, */
  streamChars: 4096,
  /** or this old: somebody watches it. */
  streamMs: 250,
  /** The end of what is streamed is held back: a secret that is cut in two would not be known for one. */
  streamHeldChars: 512,
  /** A program under replay that asks for nothing for so long, while its tape has more, has taken another way. */
  replayQuietMs: 2000,
  /** A wait longer than this gives the run back instead of keeping it in memory. */
  parkMs: 5000,
  /** A run whose workers die this often in a row is failed: it would kill the next one too. */
  runStrikes: 10,
  /** Inputs that a run is told or takes up: all of them are settled in the commit that ends it, */
  runInputs: 2000,
  /** and so are the batches that it has in hand. */
  runBatches: 1000,
  /** Inputs or batches taken at a time: they stand in one entry of the tape, */
  takenAtOnce: 64,
  /** with at most so many bytes of content. What is left is there for the next asking. */
  takenBytes: 128 * KiB,
  /** How often a node looks for work that nobody told it of. */
  lookEveryMs: 1000,
  /** How often a work item is tried, unless said: enough for what passes by itself. */
  workAttempts: 5,
  /** How long it rests after its first failure, unless said, */
  workBackoffMs: 1000,
  /** and at most: what failed for an hour is worth another look within the next. */
  workBackoffMostMs: 60 * 60 * 1000,
  /** The priority of a work item, up or down: each that is in use costs a look of its own. */
  workPriority: 100,
  /** How far a worker looks ahead, for each item it works on at a time: what it has read need not be read again. */
  workAhead: 4,
  /** and at least: a read costs as much as a commit. */
  workAheadLeast: 64,
  /** What was read ahead is read anew after this long: something more urgent may have come. */
  workAheadMs: 200,
  /** Items read at a time, however many a worker works on. */
  workWindow: 1024,
  /** Items that a worker claims beyond those it works on, where its handlers are quick, at most, */
  workReserve: 256,
  /** and no more than it works off in so long, */
  workReserveMs: 10,
  /** and given back when they have waited this long. */
  workReserveHeldMs: 250,
  /** Rows of items that one commit claims together: it is written in one piece, and others wait for it. */
  workTogetherBytes: 256 * KiB,
  /** Occurrences in one backfill: they are all offered, whoever has to work on them. */
  backfillOccurrences: 10_000,
  /** Who may decide one approval: a list that is stored with it. */
  approvalDeciders: 100,
  /** Deliveries, and people who have seen it, that are on record for an approval: its row stays small. */
  approvalNotes: 50,
  /** A question of a run that is over this long is closed by the clock: nobody was there to do it with what the run does then. */
  approvalGraceMs: 30_000,
  /** What is left to erase of a deleted session is erased by the clock after this long: whoever deleted it has died, or is slow. */
  deletionGraceMs: 60_000,
  /** Rows that one list looks at where a filter has no index; it then says where to go on. */
  listLooks: 10_000,
  /** Types of events that one process declares: they stand in its row. */
  processEventTypes: 100,
  /** How long at most a process that nobody can be said to run is left alone before somebody looks at it again. */
  processRestMostMs: 60 * 60 * 1000,
  /** Rows of processes that one commit takes away. */
  prunedAtOnce: 500,
  /** One blob: it is digested and sent in one piece, and held in memory while that lasts. */
  blobBytes: 64 * MiB,
  /** The kind and each hint of a blob: words that stand in every reference to it. */
  blobWordChars: 64,
  /** Hints of one blob, for the same reason. */
  blobHints: 16,
  /** A cron line: six fields with lists in them. */
  cronChars: 256,
  /** The shortest interval of a job, and the distance of the closest times that a cron line can name. */
  everyLeastMs: 1000,
  /** The longest interval of a job: ten years. What is longer is a mistake in the unit. */
  everyMostMs: 3650 * 24 * 60 * 60 * 1000,
  /** The most that occurrences may be spread by. */
  jitterMs: 24 * 60 * 60 * 1000,
  /** An occurrence that starts no later than this was not missed: as long as a lease, which is what the failing over of a node takes. */
  missedGraceMs: 30_000,
  /** How late a missed occurrence still starts with `missed: 'all'`, unless said. */
  catchUpMs: 24 * 60 * 60 * 1000,
  /** Occurrences that are made up for after a downtime; older ones are recorded as missed, and counted up to here. */
  catchUpOccurrences: 1000,
  /** Occurrences of a job that one commit starts; for more it is asked again at once. */
  occurrencesAtOnce: 100,
  /** Cron lines held ready in memory: each takes 80 KB. */
  linesRemembered: 100,
  /** Time zones held ready in memory, */
  zonesRemembered: 500,
  /** and of each so many stretches of 32 days for which the changes of its clocks are known. */
  stretchesRemembered: 500,
  /** Triggers of one source: one firing reserves a delivery and an item for each of them, in one commit. */
  sourceTriggers: 500,
  /** What a trigger says, as JSON: it is read at every firing, and what it hands along stands in every item. */
  triggerBytes: 8 * KiB,
  /** Ids looked up often (session revisions) held in memory. */
  sessionsRemembered: 10_000,
} as const
