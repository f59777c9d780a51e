-- The schema of a fresh file, generated from the migrations by scripts/schema.ts. Not read by any program.

CREATE TABLE approvals (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  run      text,
  expires  integer,
  subject  text,
  digest   text,
  key      text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX approvals_by_born on approvals (tenant, born, id);

CREATE INDEX approvals_by_digest on approvals (tenant, digest, born, id);

CREATE INDEX approvals_by_expiry on approvals (tenant, state, expires, id);

CREATE INDEX approvals_by_key on approvals (tenant, key, born, id);

CREATE INDEX approvals_by_run on approvals (tenant, run, born, id);

CREATE INDEX approvals_by_state on approvals (tenant, state, born, id);

CREATE INDEX approvals_by_subject on approvals (tenant, subject, born, id);

CREATE TABLE artifacts (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX artifacts_by_born on artifacts (tenant, born, id);

CREATE TABLE attachments (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  state    text,
  content  text,
  at       integer,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX attachments_by_content on attachments (tenant, session, content, born, id);

CREATE INDEX attachments_by_session on attachments (tenant, session, born, id);

CREATE INDEX attachments_by_state on attachments (tenant, state, at, id);

CREATE TABLE audit (
  tenant  text not null,
  id      text not null,
  at      integer not null,
  code    text not null,
  actor   text not null,
  noun    text not null,
  subject text not null,
  count   integer not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE TABLE blob_pieces (
  tenant text not null,
  place  text not null,
  n      integer not null,
  codec  text not null,
  sha256 blob not null,
  start  integer not null,
  size   integer not null,
  at     integer not null,
  body   blob,
  primary key (tenant, place, n)
) strict, without rowid;

CREATE TABLE blobs (
  tenant  text not null,
  digest  text not null,
  bytes   integer not null,
  stored  integer not null,
  storage text not null,
  place   text not null,
  state   text not null,
  at      integer not null,
  number  integer not null,
  primary key (tenant, digest)
) strict, without rowid;

CREATE TABLE canvas_snapshots (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  canvas   text,
  version  integer,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX canvas_snapshots_by_canvas on canvas_snapshots (tenant, canvas, version, id);

CREATE INDEX canvas_snapshots_by_session on canvas_snapshots (tenant, session, born, id);

CREATE TABLE canvases (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  name     text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX canvases_by_born on canvases (tenant, born, id);

CREATE INDEX canvases_by_change on canvases (tenant, revision, id);

CREATE INDEX canvases_by_session on canvases (tenant, session, name, id);

CREATE TABLE clocks (
  id      integer primary key check (id = 1),
  trusted integer not null,
  leap    integer
) strict;

CREATE TABLE collections (
  tenant text not null,
  number integer not null,
  top    integer not null,
  active integer not null,
  primary key (tenant)
) strict, without rowid;

CREATE TABLE core (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  owner    text,
  session  text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX core_by_owner on core (tenant, owner, born, id);

CREATE INDEX core_by_session on core (tenant, session, born, id);

CREATE TABLE corpora (
  tenant text not null,
  source text not null,
  docs   integer not null,
  total  integer not null,
  primary key (tenant, source)
) strict, without rowid;

CREATE TABLE deliveries (
  tenant     text not null,
  id         text not null,
  born       integer not null,
  revision   integer not null,
  firing     text,
  trigger_id text,
  state      text,
  body       text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX deliveries_by_firing on deliveries (tenant, firing, born, id);

CREATE INDEX deliveries_by_state on deliveries (tenant, state, born, id);

CREATE INDEX deliveries_by_trigger on deliveries (tenant, trigger_id, born, id);

CREATE TABLE due (
  tenant text not null,
  queue  text not null,
  at     integer not null,
  primary key (tenant, queue)
) strict, without rowid;

CREATE INDEX due_by_time on due (queue, at, tenant);

CREATE TABLE events (
  tenant  text not null,
  seq     integer not null,
  id      blob not null,
  at      integer not null,
  type    text not null,
  schema  integer not null,
  class   integer not null,
  actor   text not null,
  session blob,
  run     blob,
  subject blob,
  cause   blob,
  key     blob,
  payload text,
  salt    blob,
  digest  blob not null,
  hash    blob not null
) strict;

CREATE INDEX events_by_id on events (tenant, id);

CREATE INDEX events_by_key on events (tenant, key, seq) where key is not null and subject is null;

CREATE INDEX events_by_run on events (tenant, run, seq) where run is not null;

CREATE UNIQUE INDEX events_by_seq on events (tenant, seq);

CREATE INDEX events_by_session on events (tenant, session, seq) where session is not null;

CREATE INDEX events_by_subject on events (tenant, subject, seq) where subject is not null;

CREATE INDEX events_by_type on events (tenant, type, seq);

CREATE TRIGGER events_follow before insert on events
when new.seq is not 1 + coalesce((select max(seq) from events where tenant = new.tenant), 0)
begin
  select raise(abort, 'inkfast: an event must follow the last one');
end;

CREATE TRIGGER events_remain before delete on events
begin
  select raise(abort, 'inkfast: events are append-only');
end;

CREATE TRIGGER events_stay before update on events
when new.payload is not null or new.salt is not null
  or new.tenant is not old.tenant or new.seq is not old.seq or new.id is not old.id or new.at is not old.at
  or new.type is not old.type or new.schema is not old.schema or new.class is not old.class or new.actor is not old.actor
  or new.session is not old.session or new.run is not old.run or new.subject is not old.subject or new.cause is not old.cause
  or new.key is not old.key or new.digest is not old.digest or new.hash is not old.hash
begin
  select raise(abort, 'inkfast: events are append-only');
end;

CREATE TABLE firings (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  source   text,
  body     text not null,
  primary key (tenant, id)
) strict;

CREATE INDEX firings_by_born on firings (tenant, born, id);

CREATE INDEX firings_by_source on firings (tenant, source, born, id);

CREATE TABLE grants (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  process  text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX grants_by_process on grants (tenant, process, born, id);

CREATE INDEX grants_by_session on grants (tenant, session, born, id);

CREATE TABLE graph_nodes (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  state    text,
  parent   text,
  frame    text,
  body     text not null,
  primary key (tenant, id)
) strict;

CREATE INDEX graph_nodes_by_frame on graph_nodes (tenant, session, state, frame, born, id);

CREATE INDEX graph_nodes_by_parent on graph_nodes (tenant, session, state, parent, born, id);

CREATE INDEX graph_nodes_by_session on graph_nodes (tenant, session, state, born, id);

CREATE TABLE heads (
  tenant text primary key,
  seq    integer not null,
  hash   blob not null,
  state  text not null default 'active'
) strict, without rowid;

CREATE TRIGGER heads_resume after update of state on heads when new.state = 'active' and old.state <> 'active'
begin
  delete from due where tenant = new.tenant;
  insert into due (tenant, queue, at)
  select new.tenant, queue, min(at) from work indexed by work_by_due
  where tenant = new.tenant and queue is not null and at is not null group by queue;
end;

CREATE TABLE inbox (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  state    text,
  body     text not null,
  primary key (tenant, id)
) strict;

CREATE INDEX inbox_by_session on inbox (tenant, session, born, id);

CREATE INDEX inbox_by_session_and_state on inbox (tenant, session, state, born, id);

CREATE TABLE inputs (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  state    text,
  run      text,
  body     text not null,
  primary key (tenant, id)
) strict;

CREATE INDEX inputs_by_run on inputs (tenant, run, state, born, id);

CREATE INDEX inputs_by_session on inputs (tenant, session, born, id);

CREATE INDEX inputs_by_session_and_state on inputs (tenant, session, state, born, id);

CREATE TABLE jobs (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  queue    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX jobs_by_born on jobs (tenant, born, id);

CREATE INDEX jobs_by_queue on jobs (tenant, queue, born, id);

CREATE INDEX jobs_by_state on jobs (tenant, state, born, id);

CREATE TABLE leases (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  fence    integer,
  owner    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX leases_by_owner on leases (tenant, owner, id);

CREATE TABLE memory (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  about    text,
  state    text,
  at       integer,
  thread   text,
  expires  integer,
  starts   integer,
  ends     integer,
  terms    text,
  body     text not null,
  primary key (tenant, id)
) strict;

CREATE INDEX memory_by_about on memory (tenant, about, state, born, id);

CREATE INDEX memory_by_born on memory (tenant, born, id);

CREATE INDEX memory_by_end on memory (tenant, ends, id);

CREATE INDEX memory_by_expiry on memory (tenant, expires, id);

CREATE INDEX memory_by_start on memory (tenant, starts, id);

CREATE INDEX memory_by_state on memory (tenant, state, born, id);

CREATE INDEX memory_by_thread on memory (tenant, thread, born, id) where thread is not null and terms is not null;

CREATE TRIGGER memory_words_change after update of terms on memory
when new.terms is not old.terms and substr(coalesce(new.terms, '{'), 1, 1) = '{' and substr(coalesce(old.terms, '{'), 1, 1) = '{'
begin
  delete from postings where tenant = old.tenant and doc = old.born and about = coalesce(
    (select a.id from terms as a where a.tenant = old.tenant and a.source = 'memory' and a.term = old.terms ->> '$.a'), 0) and term in (
    select t.id from json_each(old.terms, '$.t') as e
    cross join terms as t on t.tenant = old.tenant and t.source = 'memory' and t.term = e.value ->> 0);
  update terms set df = df - 1 where tenant = old.tenant and source = 'memory' and term in (select value ->> 0 from json_each(old.terms, '$.t'));
  delete from terms where tenant = old.tenant and source = 'memory' and df <= 0 and term in (select value ->> 0 from json_each(old.terms, '$.t'));
  update corpora set docs = docs - 1, total = total - (old.terms ->> '$.l') where tenant = old.tenant and source = 'memory' and old.terms is not null;
  insert into terms (tenant, source, term, df)
  select new.tenant, 'memory', value ->> 0, 1 from json_each(new.terms, '$.t') where true
  on conflict (tenant, source, term) do update set df = df + 1;
  insert into postings (tenant, term, about, doc, tf, tf_tags, tf_source, len)
  select new.tenant, t.id, one.about, new.born, e.value ->> 1, e.value ->> 2, e.value ->> 3, one.len
  from (
    select new.terms ->> '$.l' as len,
      coalesce((select a.id from terms as a where a.tenant = new.tenant and a.source = 'memory' and a.term = new.terms ->> '$.a'), 0) as about
    limit 1
  ) as one
  cross join json_each(new.terms, '$.t') as e
  cross join terms as t on t.tenant = new.tenant and t.source = 'memory' and t.term = e.value ->> 0;
  insert into corpora (tenant, source, docs, total)
  select new.tenant, 'memory', 1, new.terms ->> '$.l' where new.terms is not null
  on conflict (tenant, source) do update set docs = docs + 1, total = total + excluded.total;
end;

CREATE TRIGGER memory_words_come after insert on memory when substr(new.terms, 1, 1) = '{'
begin
  insert into terms (tenant, source, term, df)
  select new.tenant, 'memory', value ->> 0, 1 from json_each(new.terms, '$.t') where true
  on conflict (tenant, source, term) do update set df = df + 1;
  insert into postings (tenant, term, about, doc, tf, tf_tags, tf_source, len)
  select new.tenant, t.id, one.about, new.born, e.value ->> 1, e.value ->> 2, e.value ->> 3, one.len
  from (
    select new.terms ->> '$.l' as len,
      coalesce((select a.id from terms as a where a.tenant = new.tenant and a.source = 'memory' and a.term = new.terms ->> '$.a'), 0) as about
    limit 1
  ) as one
  cross join json_each(new.terms, '$.t') as e
  cross join terms as t on t.tenant = new.tenant and t.source = 'memory' and t.term = e.value ->> 0;
  insert into corpora (tenant, source, docs, total)
  select new.tenant, 'memory', 1, new.terms ->> '$.l' where new.terms is not null
  on conflict (tenant, source) do update set docs = docs + 1, total = total + excluded.total;
end;

CREATE TRIGGER memory_words_go after delete on memory when substr(old.terms, 1, 1) = '{'
begin
  delete from postings where tenant = old.tenant and doc = old.born and about = coalesce(
    (select a.id from terms as a where a.tenant = old.tenant and a.source = 'memory' and a.term = old.terms ->> '$.a'), 0) and term in (
    select t.id from json_each(old.terms, '$.t') as e
    cross join terms as t on t.tenant = old.tenant and t.source = 'memory' and t.term = e.value ->> 0);
  update terms set df = df - 1 where tenant = old.tenant and source = 'memory' and term in (select value ->> 0 from json_each(old.terms, '$.t'));
  delete from terms where tenant = old.tenant and source = 'memory' and df <= 0 and term in (select value ->> 0 from json_each(old.terms, '$.t'));
  update corpora set docs = docs - 1, total = total - (old.terms ->> '$.l') where tenant = old.tenant and source = 'memory' and old.terms is not null;
end;

CREATE TABLE messages (
  tenant    text not null,
  id        text not null,
  born      integer not null,
  revision  integer not null,
  session   text,
  thread    text,
  execution text,
  body      text not null,
  primary key (tenant, id)
) strict;

CREATE INDEX messages_by_execution on messages (tenant, session, execution, born, id) where execution is not null;

CREATE INDEX messages_by_thread on messages (tenant, session, thread, born, id);

CREATE TABLE migrations (
  number     integer primary key,
  name       text not null,
  checksum   text not null,
  applied_at integer not null
) strict;

CREATE TABLE named_nodes (
  tenant text not null,
  ref    blob not null,
  at     integer not null,
  number integer not null,
  primary key (tenant, ref)
) strict, without rowid;

CREATE INDEX named_nodes_by_number on named_nodes (tenant, number);

CREATE TABLE names (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  target   text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX names_by_target on names (tenant, target, id);

CREATE TABLE nodes (
  id     integer,
  tenant text not null,
  ref    blob not null,
  at     integer not null,
  body   blob not null,
  primary key (id)
) strict;

CREATE INDEX nodes_by_key on nodes (tenant, substr(ref, 1, 8));

CREATE TABLE occurrences (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  job      text,
  state    text,
  due      integer,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX occurrences_by_job on occurrences (tenant, job, due, id);

CREATE INDEX occurrences_by_job_and_state on occurrences (tenant, job, state, due, id);

CREATE TABLE permits (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  digest   text,
  session  text,
  state    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX permits_by_born on permits (tenant, born, id);

CREATE INDEX permits_by_digest on permits (tenant, digest, state, born, id);

CREATE INDEX permits_by_session on permits (tenant, session, state, born, id);

CREATE TABLE pins (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX pins_by_born on pins (tenant, born, id);

CREATE TABLE postings (
  tenant    text not null,
  term      integer not null,
  about     integer not null,
  doc       integer not null,
  tf        integer not null,
  tf_tags   integer not null,
  tf_source integer not null,
  len       integer not null,
  primary key (tenant, term, about, doc)
) strict, without rowid;

CREATE TABLE process_events (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  process  text,
  number   integer,
  type     text,
  body     text not null,
  primary key (tenant, id)
) strict;

CREATE INDEX process_events_by_process on process_events (tenant, process, number, id);

CREATE INDEX process_events_by_type on process_events (tenant, process, type, number, id);

CREATE TABLE processes (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  kind     text,
  wake     text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX processes_by_born on processes (tenant, born, id);

CREATE INDEX processes_by_kind on processes (tenant, kind, born, id);

CREATE INDEX processes_by_state on processes (tenant, state, born, id);

CREATE INDEX processes_by_wake on processes (tenant, wake, born, id);

CREATE TABLE receipts (
  tenant text not null,
  key    blob not null,
  seq    integer not null,
  count  integer not null,
  body   blob not null,
  at     integer not null,
  digest blob not null,
  primary key (tenant, key)
) strict, without rowid;

CREATE INDEX receipts_by_at on receipts (tenant, at);

CREATE TABLE refs (
  tenant text not null,
  seq    integer not null,
  ref    text not null,
  primary key (tenant, seq, ref)
) strict, without rowid;

CREATE TABLE renewals (
  tenant text not null,
  id     text not null,
  fence  integer not null,
  until  integer not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE TABLE runs (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  session  text,
  name     text,
  parent   text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX runs_by_born on runs (tenant, born, id);

CREATE INDEX runs_by_name on runs (tenant, name, born, id);

CREATE INDEX runs_by_parent on runs (tenant, parent, born, id);

CREATE INDEX runs_by_session on runs (tenant, session, born, id);

CREATE INDEX runs_by_session_and_state on runs (tenant, session, state, born, id);

CREATE INDEX runs_by_state on runs (tenant, state, born, id);

CREATE TABLE secrets (
  name  text primary key,
  value blob not null
) strict, without rowid;

CREATE TABLE session_heads (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX session_heads_by_session on session_heads (tenant, session, born, id);

CREATE TABLE sessions (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  owner    text,
  branch   text,
  relation text,
  parent   text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX sessions_by_born on sessions (tenant, born, id);

CREATE INDEX sessions_by_branch on sessions (tenant, branch, born, id);

CREATE INDEX sessions_by_owner on sessions (tenant, owner, born, id);

CREATE INDEX sessions_by_owner_and_state on sessions (tenant, owner, state, born, id);

CREATE INDEX sessions_by_parent on sessions (tenant, parent, born, id);

CREATE INDEX sessions_by_relation on sessions (tenant, relation, born, id);

CREATE INDEX sessions_by_state on sessions (tenant, state, born, id);

CREATE TABLE signals (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  name     text,
  state    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX signals_by_session on signals (tenant, session, name, state, born, id);

CREATE TABLE snapshots (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX snapshots_by_born on snapshots (tenant, born, id);

CREATE TABLE sources (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX sources_by_born on sources (tenant, born, id);

CREATE TABLE state (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  key      text,
  expires  integer,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX state_by_expiry on state (tenant, expires, id);

CREATE INDEX state_by_key on state (tenant, session, key, id);

CREATE TABLE terms (
  id     integer,
  tenant text not null,
  source text not null,
  term   text not null,
  df     integer not null,
  primary key (id)
) strict;

CREATE UNIQUE INDEX terms_by_key on terms (tenant, source, term);

CREATE TABLE threads (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  owner    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX threads_by_born on threads (tenant, born, id);

CREATE INDEX threads_by_owner on threads (tenant, owner, born, id);

CREATE INDEX threads_by_session on threads (tenant, session, born, id);

CREATE TABLE triggers (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  source   text,
  state    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX triggers_by_born on triggers (tenant, born, id);

CREATE INDEX triggers_by_source on triggers (tenant, source, state, born, id);

CREATE INDEX triggers_by_state on triggers (tenant, state, born, id);

CREATE TABLE turns (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX turns_by_session on turns (tenant, session, born, id);

CREATE TABLE usage (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  hour     integer,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX usage_by_hour on usage (tenant, hour, id);

CREATE INDEX usage_by_session on usage (tenant, session, hour, id);

CREATE TABLE vector_collections (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  name     text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX vector_collections_by_name on vector_collections (tenant, state, name, id);

CREATE TABLE vectors (
  tenant     text not null,
  id         text not null,
  born       integer not null,
  revision   integer not null,
  collection text,
  body       text not null,
  primary key (tenant, id)
) strict;

CREATE INDEX vectors_by_collection on vectors (tenant, collection, id);

CREATE TABLE work (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  fence    integer,
  queue    text,
  state    text,
  priority integer,
  at       integer,
  series   text,
  body     text not null,
  behind   integer not null default 0,
  primary key (tenant, id)
) strict, without rowid;

CREATE INDEX work_by_due on work (tenant, queue, at, id);

CREATE INDEX work_by_ready on work (tenant, queue, state, priority, at, born, id);

CREATE INDEX work_by_series on work (tenant, series, born, id) where series is not null and state is distinct from 'dead';

CREATE INDEX work_by_turn on work (tenant, queue, priority, at, born, id) where state = 'ready' and behind = 0;

CREATE TRIGGER work_hastens after update of queue, at on work
when new.queue is not null and new.at is not null and (old.at is null or new.at < old.at or new.queue is not old.queue)
begin
  insert into due (tenant, queue, at) values (new.tenant, new.queue, new.at)
  on conflict (tenant, queue) do update set at = excluded.at where excluded.at < at;
end;

CREATE TRIGGER work_joins after insert on work when new.series is not null and new.state is not 'dead'
begin
  update work set behind = 1
  where tenant = new.tenant and id = new.id and behind = 0 and id <> (
    select e.id from work as e indexed by work_by_series where e.tenant = new.tenant and e.series = new.series and e.state is not 'dead' order by e.born, e.id limit 1);
  update work set behind = 1
  where tenant = new.tenant and behind = 0 and id = (
    select e.id from work as e indexed by work_by_series where e.tenant = new.tenant and e.series = new.series and e.state is not 'dead'
    order by e.born, e.id limit 1 offset 1);
end;

CREATE TRIGGER work_leaves after delete on work when old.series is not null and old.state is not 'dead' and old.behind = 0
begin
  update work set behind = 0
  where tenant = old.tenant and behind = 1 and id = (
    select e.id from work as e indexed by work_by_series where e.tenant = old.tenant and e.series = old.series and e.state is not 'dead' order by e.born, e.id limit 1);
end;

CREATE TRIGGER work_offers after insert on work when new.queue is not null and new.at is not null
begin
  insert into due (tenant, queue, at) values (new.tenant, new.queue, new.at)
  on conflict (tenant, queue) do update set at = excluded.at where excluded.at < at;
end;

CREATE TRIGGER work_turns after update of series, state on work
when new.series is not old.series or (new.state is 'dead') <> (old.state is 'dead')
begin
  update work set behind = 0
  where tenant = old.tenant and behind = 1 and id = (
    select e.id from work as e indexed by work_by_series where e.tenant = old.tenant and e.series = old.series and e.state is not 'dead' order by e.born, e.id limit 1);
  update work set behind = not behind
  where tenant = new.tenant and id = new.id and behind <> coalesce(id <> (
    select e.id from work as e indexed by work_by_series where e.tenant = new.tenant and e.series = new.series and e.state is not 'dead'
    order by e.born, e.id limit 1) and new.state is not 'dead', 0);
  update work set behind = 1
  where tenant = new.tenant and behind = 0 and id = (
    select e.id from work as e indexed by work_by_series where e.tenant = new.tenant and e.series = new.series and e.state is not 'dead'
    order by e.born, e.id limit 1 offset 1);
end;

CREATE TABLE workers (
  tenant  text not null,
  id      text not null,
  version text not null,
  queues  text not null,
  at      integer not null,
  until   integer not null,
  primary key (tenant, id)
) strict, without rowid;
