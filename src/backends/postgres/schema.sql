-- The schema of a fresh database, generated from the migrations by scripts/schema.ts. Not read by any program.

create schema inkfast authorization inkfast_owner;
grant usage on schema inkfast to inkfast_app;
grant usage on schema inkfast to inkfast_reader;
grant usage on schema inkfast to inkfast_wall;

-- owner: inkfast_owner
create table inkfast.approvals (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  state text collate "C",
  run text collate "C",
  expires bigint,
  subject text collate "C",
  digest text collate "C",
  key text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX approvals_by_born ON inkfast.approvals USING btree (tenant, born, id);
CREATE INDEX approvals_by_digest ON inkfast.approvals USING btree (tenant, digest NULLS FIRST, born, id);
CREATE INDEX approvals_by_expiry ON inkfast.approvals USING btree (tenant, state NULLS FIRST, expires NULLS FIRST, id);
CREATE INDEX approvals_by_key ON inkfast.approvals USING btree (tenant, key NULLS FIRST, born, id);
CREATE INDEX approvals_by_run ON inkfast.approvals USING btree (tenant, run NULLS FIRST, born, id);
CREATE INDEX approvals_by_state ON inkfast.approvals USING btree (tenant, state NULLS FIRST, born, id);
CREATE INDEX approvals_by_subject ON inkfast.approvals USING btree (tenant, subject NULLS FIRST, born, id);
alter table inkfast.approvals enable row level security, force row level security;
create policy tenant on inkfast.approvals for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.approvals to inkfast_app;
grant select on inkfast.approvals to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.artifacts (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX artifacts_by_born ON inkfast.artifacts USING btree (tenant, born, id);
alter table inkfast.artifacts enable row level security, force row level security;
create policy tenant on inkfast.artifacts for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.artifacts to inkfast_app;
grant select on inkfast.artifacts to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.attachments (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  state text collate "C",
  content text collate "C",
  at bigint,
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX attachments_by_content ON inkfast.attachments USING btree (tenant, session NULLS FIRST, content NULLS FIRST, born, id);
CREATE INDEX attachments_by_session ON inkfast.attachments USING btree (tenant, session NULLS FIRST, born, id);
CREATE INDEX attachments_by_state ON inkfast.attachments USING btree (tenant, state NULLS FIRST, at NULLS FIRST, id);
alter table inkfast.attachments enable row level security, force row level security;
create policy tenant on inkfast.attachments for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.attachments to inkfast_app;
grant select on inkfast.attachments to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.audit (
  tenant text collate "C" not null,
  id text collate "C" not null,
  at bigint not null,
  code text collate "C" not null,
  actor text collate "C" not null,
  noun text collate "C" not null,
  subject text collate "C" not null,
  count bigint not null,
  PRIMARY KEY (tenant, id)
);
alter table inkfast.audit enable row level security, force row level security;
create policy tenant on inkfast.audit for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select on inkfast.audit to inkfast_app;
grant select on inkfast.audit to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.blob_pieces (
  tenant text collate "C" not null,
  place text collate "C" not null,
  n bigint not null,
  codec text collate "C" not null,
  sha256 bytea not null,
  start bigint not null,
  size bigint not null,
  at bigint not null,
  body bytea,
  PRIMARY KEY (tenant, place, n)
);
alter table inkfast.blob_pieces enable row level security, force row level security;
create policy tenant on inkfast.blob_pieces for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select on inkfast.blob_pieces to inkfast_app;
grant select on inkfast.blob_pieces to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.blobs (
  tenant text collate "C" not null,
  digest text collate "C" not null,
  bytes bigint not null,
  stored bigint not null,
  storage text collate "C" not null,
  place text collate "C" not null,
  state text collate "C" not null,
  at bigint not null,
  number bigint not null,
  PRIMARY KEY (tenant, digest)
);
alter table inkfast.blobs enable row level security, force row level security;
create policy tenant on inkfast.blobs for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.blobs to inkfast_app;
grant select on inkfast.blobs to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.canvas_snapshots (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  canvas text collate "C",
  version bigint,
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX canvas_snapshots_by_canvas ON inkfast.canvas_snapshots USING btree (tenant, canvas NULLS FIRST, version NULLS FIRST, id);
CREATE INDEX canvas_snapshots_by_session ON inkfast.canvas_snapshots USING btree (tenant, session NULLS FIRST, born, id);
alter table inkfast.canvas_snapshots enable row level security, force row level security;
create policy tenant on inkfast.canvas_snapshots for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.canvas_snapshots to inkfast_app;
grant select on inkfast.canvas_snapshots to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.canvases (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  name text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX canvases_by_born ON inkfast.canvases USING btree (tenant, born, id);
CREATE INDEX canvases_by_change ON inkfast.canvases USING btree (tenant, revision, id);
CREATE INDEX canvases_by_session ON inkfast.canvases USING btree (tenant, session NULLS FIRST, name NULLS FIRST, id);
alter table inkfast.canvases enable row level security, force row level security;
create policy tenant on inkfast.canvases for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.canvases to inkfast_app;
grant select on inkfast.canvases to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.clock (
  id boolean default true not null,
  offset_ms bigint default 0 not null,
  PRIMARY KEY (id),
  CHECK (id)
);
alter table inkfast.clock enable row level security, force row level security;
create policy anyone on inkfast.clock for select to inkfast_app, inkfast_reader using (true);
create policy owner on inkfast.clock for all to inkfast_owner using (true) with check (true);
grant select on inkfast.clock to inkfast_app;
grant select on inkfast.clock to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.collections (
  tenant text collate "C" not null,
  number bigint not null,
  top bigint not null,
  active bigint not null,
  PRIMARY KEY (tenant)
);
alter table inkfast.collections enable row level security, force row level security;
create policy tenant on inkfast.collections for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant insert, select, update on inkfast.collections to inkfast_app;
grant select on inkfast.collections to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.core (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  owner text collate "C",
  session text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX core_by_owner ON inkfast.core USING btree (tenant, owner NULLS FIRST, born, id);
CREATE INDEX core_by_session ON inkfast.core USING btree (tenant, session NULLS FIRST, born, id);
alter table inkfast.core enable row level security, force row level security;
create policy tenant on inkfast.core for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.core to inkfast_app;
grant select on inkfast.core to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.corpora (
  tenant text collate "C" not null,
  source text collate "C" not null,
  docs bigint not null,
  total bigint not null,
  PRIMARY KEY (tenant, source)
);
alter table inkfast.corpora enable row level security, force row level security;
create policy tenant on inkfast.corpora for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.corpora to inkfast_app;
grant select on inkfast.corpora to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.deliveries (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  firing text collate "C",
  trigger_id text collate "C",
  state text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX deliveries_by_firing ON inkfast.deliveries USING btree (tenant, firing NULLS FIRST, born, id);
CREATE INDEX deliveries_by_state ON inkfast.deliveries USING btree (tenant, state NULLS FIRST, born, id);
CREATE INDEX deliveries_by_trigger ON inkfast.deliveries USING btree (tenant, trigger_id NULLS FIRST, born, id);
alter table inkfast.deliveries enable row level security, force row level security;
create policy tenant on inkfast.deliveries for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.deliveries to inkfast_app;
grant select on inkfast.deliveries to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.due (
  tenant text collate "C" not null,
  queue text collate "C" not null,
  at bigint not null,
  PRIMARY KEY (tenant, queue)
);
CREATE INDEX due_by_time ON inkfast.due USING btree (queue, at, tenant);
alter table inkfast.due enable row level security, force row level security;
create policy tenant on inkfast.due for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
create policy wall on inkfast.due for all to inkfast_wall using (true) with check (true);
grant select on inkfast.due to inkfast_app;
grant select on inkfast.due to inkfast_reader;
grant delete, insert, select, update on inkfast.due to inkfast_wall;

-- owner: inkfast_owner
create table inkfast.events (
  tenant text collate "C" not null,
  seq bigint not null,
  id bytea not null,
  at bigint not null,
  type text collate "C" not null,
  schema bigint not null,
  class smallint not null,
  actor text collate "C" not null,
  session bytea,
  run bytea,
  subject bytea,
  cause bytea,
  key bytea,
  payload text collate "C",
  salt bytea,
  digest bytea not null,
  hash bytea not null,
  PRIMARY KEY (tenant, seq)
);
CREATE INDEX events_by_id ON inkfast.events USING btree (tenant, id);
CREATE INDEX events_by_key ON inkfast.events USING btree (tenant, key, seq) WHERE ((key IS NOT NULL) AND (subject IS NULL));
CREATE INDEX events_by_run ON inkfast.events USING btree (tenant, run, seq) WHERE (run IS NOT NULL);
CREATE INDEX events_by_session ON inkfast.events USING btree (tenant, session, seq) WHERE (session IS NOT NULL);
CREATE INDEX events_by_subject ON inkfast.events USING btree (tenant, subject, seq) WHERE (subject IS NOT NULL);
CREATE INDEX events_by_type ON inkfast.events USING btree (tenant, type, seq);
CREATE TRIGGER events_by_commit BEFORE INSERT ON inkfast.events FOR EACH STATEMENT WHEN ((COALESCE(POSITION(('!:'::text) IN (current_setting('inkfast.tenant'::text, true))), 0) = 0)) EXECUTE FUNCTION inkfast.events_by_commit();
CREATE TRIGGER events_remain BEFORE TRUNCATE ON inkfast.events FOR EACH STATEMENT EXECUTE FUNCTION inkfast.events_stay();
CREATE TRIGGER events_stay BEFORE DELETE OR UPDATE ON inkfast.events FOR EACH ROW EXECUTE FUNCTION inkfast.events_stay();
alter table inkfast.events enable row level security, force row level security;
create policy tenant on inkfast.events for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
create policy wall on inkfast.events for select to inkfast_wall using (true);
grant insert, select on inkfast.events to inkfast_app;
grant select on inkfast.events to inkfast_reader;
grant update (payload), update (salt) on inkfast.events to inkfast_app;
grant select (seq), select (tenant) on inkfast.events to inkfast_wall;

-- owner: inkfast_owner
create table inkfast.firings (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  source text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX firings_by_born ON inkfast.firings USING btree (tenant, born, id);
CREATE INDEX firings_by_source ON inkfast.firings USING btree (tenant, source NULLS FIRST, born, id);
alter table inkfast.firings enable row level security, force row level security;
create policy tenant on inkfast.firings for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.firings to inkfast_app;
grant select on inkfast.firings to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.grants (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  process text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX grants_by_process ON inkfast.grants USING btree (tenant, process NULLS FIRST, born, id);
CREATE INDEX grants_by_session ON inkfast.grants USING btree (tenant, session NULLS FIRST, born, id);
alter table inkfast.grants enable row level security, force row level security;
create policy tenant on inkfast.grants for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.grants to inkfast_app;
grant select on inkfast.grants to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.graph_nodes (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  state text collate "C",
  parent text collate "C",
  frame text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX graph_nodes_by_frame ON inkfast.graph_nodes USING btree (tenant, session NULLS FIRST, state NULLS FIRST, frame NULLS FIRST, born, id);
CREATE INDEX graph_nodes_by_parent ON inkfast.graph_nodes USING btree (tenant, session NULLS FIRST, state NULLS FIRST, parent NULLS FIRST, born, id);
CREATE INDEX graph_nodes_by_session ON inkfast.graph_nodes USING btree (tenant, session NULLS FIRST, state NULLS FIRST, born, id);
alter table inkfast.graph_nodes enable row level security, force row level security;
create policy tenant on inkfast.graph_nodes for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.graph_nodes to inkfast_app;
grant select on inkfast.graph_nodes to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.heads (
  tenant text collate "C" not null,
  seq bigint not null,
  hash bytea not null,
  state text default 'active'::text not null,
  PRIMARY KEY (tenant),
  CHECK ((state = ANY (ARRAY['active'::text, 'suspended'::text, 'deleted'::text])))
) with (fillfactor=50);
CREATE TRIGGER heads_resume AFTER UPDATE OF state ON inkfast.heads FOR EACH ROW WHEN (((new.state = 'active'::text) AND (old.state <> 'active'::text))) EXECUTE FUNCTION inkfast.heads_resume();
alter table inkfast.heads enable row level security, force row level security;
create policy joins on inkfast.heads for insert to inkfast_wall with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
create policy locks on inkfast.heads for update to inkfast_app using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
create policy moves on inkfast.heads for update to inkfast_wall using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check (true);
create policy tenant on inkfast.heads for select to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant)));
create policy wall on inkfast.heads for select to inkfast_wall using (true);
grant select on inkfast.heads to inkfast_app;
grant select on inkfast.heads to inkfast_reader;
grant insert, select on inkfast.heads to inkfast_wall;
grant update (tenant) on inkfast.heads to inkfast_app;
grant update (hash), update (seq), update (state) on inkfast.heads to inkfast_wall;

-- owner: inkfast_owner
create table inkfast.inbox (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  state text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX inbox_by_session ON inkfast.inbox USING btree (tenant, session NULLS FIRST, born, id);
CREATE INDEX inbox_by_session_and_state ON inkfast.inbox USING btree (tenant, session NULLS FIRST, state NULLS FIRST, born, id);
alter table inkfast.inbox enable row level security, force row level security;
create policy tenant on inkfast.inbox for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.inbox to inkfast_app;
grant select on inkfast.inbox to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.inputs (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  state text collate "C",
  run text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX inputs_by_run ON inkfast.inputs USING btree (tenant, run NULLS FIRST, state NULLS FIRST, born, id);
CREATE INDEX inputs_by_session ON inkfast.inputs USING btree (tenant, session NULLS FIRST, born, id);
CREATE INDEX inputs_by_session_and_state ON inkfast.inputs USING btree (tenant, session NULLS FIRST, state NULLS FIRST, born, id);
alter table inkfast.inputs enable row level security, force row level security;
create policy tenant on inkfast.inputs for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.inputs to inkfast_app;
grant select on inkfast.inputs to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.jobs (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  state text collate "C",
  queue text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX jobs_by_born ON inkfast.jobs USING btree (tenant, born, id);
CREATE INDEX jobs_by_queue ON inkfast.jobs USING btree (tenant, queue NULLS FIRST, born, id);
CREATE INDEX jobs_by_state ON inkfast.jobs USING btree (tenant, state NULLS FIRST, born, id);
alter table inkfast.jobs enable row level security, force row level security;
create policy tenant on inkfast.jobs for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.jobs to inkfast_app;
grant select on inkfast.jobs to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.leases (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  fence bigint,
  owner text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX leases_by_owner ON inkfast.leases USING btree (tenant, owner NULLS FIRST, id);
alter table inkfast.leases enable row level security, force row level security;
create policy tenant on inkfast.leases for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.leases to inkfast_app;
grant select on inkfast.leases to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.memory (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  about text collate "C",
  state text collate "C",
  at bigint,
  thread text collate "C",
  expires bigint,
  starts bigint,
  ends bigint,
  terms text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX memory_by_about ON inkfast.memory USING btree (tenant, about NULLS FIRST, state NULLS FIRST, born, id);
CREATE INDEX memory_by_born ON inkfast.memory USING btree (tenant, born, id);
CREATE INDEX memory_by_end ON inkfast.memory USING btree (tenant, ends NULLS FIRST, id);
CREATE INDEX memory_by_expiry ON inkfast.memory USING btree (tenant, expires NULLS FIRST, id);
CREATE INDEX memory_by_start ON inkfast.memory USING btree (tenant, starts NULLS FIRST, id);
CREATE INDEX memory_by_state ON inkfast.memory USING btree (tenant, state NULLS FIRST, born, id);
CREATE INDEX memory_by_thread ON inkfast.memory USING btree (tenant, thread NULLS FIRST, born, id) WHERE ((thread IS NOT NULL) AND (terms IS NOT NULL));
CREATE TRIGGER memory_words_change AFTER UPDATE ON inkfast.memory REFERENCING OLD TABLE AS gone NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION inkfast.words_change();
CREATE TRIGGER memory_words_come AFTER INSERT ON inkfast.memory REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION inkfast.words_come();
CREATE TRIGGER memory_words_go AFTER DELETE ON inkfast.memory REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION inkfast.words_go();
alter table inkfast.memory enable row level security, force row level security;
create policy tenant on inkfast.memory for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.memory to inkfast_app;
grant select on inkfast.memory to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.messages (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  thread text collate "C",
  execution text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX messages_by_execution ON inkfast.messages USING btree (tenant, session NULLS FIRST, execution NULLS FIRST, born, id) WHERE (execution IS NOT NULL);
CREATE INDEX messages_by_thread ON inkfast.messages USING btree (tenant, session NULLS FIRST, thread NULLS FIRST, born, id);
alter table inkfast.messages enable row level security, force row level security;
create policy tenant on inkfast.messages for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.messages to inkfast_app;
grant select on inkfast.messages to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.migrations (
  number integer not null,
  name text not null,
  checksum text not null,
  serves integer not null,
  applied_at bigint not null,
  PRIMARY KEY (number)
);
alter table inkfast.migrations enable row level security, force row level security;
create policy anyone on inkfast.migrations for select to inkfast_app, inkfast_reader using (true);
create policy owner on inkfast.migrations for all to inkfast_owner using (true) with check (true);
grant select on inkfast.migrations to inkfast_app;
grant select on inkfast.migrations to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.named_nodes (
  tenant text collate "C" not null,
  ref bytea not null,
  at bigint not null,
  number bigint not null,
  PRIMARY KEY (tenant, ref)
);
CREATE INDEX named_nodes_by_number ON inkfast.named_nodes USING btree (tenant, number);
alter table inkfast.named_nodes enable row level security, force row level security;
create policy tenant on inkfast.named_nodes for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.named_nodes to inkfast_app;
grant select on inkfast.named_nodes to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.names (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  target text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX names_by_target ON inkfast.names USING btree (tenant, target NULLS FIRST, id);
alter table inkfast.names enable row level security, force row level security;
create policy tenant on inkfast.names for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.names to inkfast_app;
grant select on inkfast.names to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.nodes (
  id bigint not null,
  tenant text collate "C" not null,
  ref bytea not null,
  at bigint not null,
  body bytea not null,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX nodes_by_key ON inkfast.nodes USING btree (tenant, ref);
alter table inkfast.nodes enable row level security, force row level security;
create policy tenant on inkfast.nodes for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select on inkfast.nodes to inkfast_app;
grant select on inkfast.nodes to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.occurrences (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  job text collate "C",
  state text collate "C",
  due bigint,
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX occurrences_by_job ON inkfast.occurrences USING btree (tenant, job NULLS FIRST, due NULLS FIRST, id);
CREATE INDEX occurrences_by_job_and_state ON inkfast.occurrences USING btree (tenant, job NULLS FIRST, state NULLS FIRST, due NULLS FIRST, id);
alter table inkfast.occurrences enable row level security, force row level security;
create policy tenant on inkfast.occurrences for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.occurrences to inkfast_app;
grant select on inkfast.occurrences to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.permits (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  digest text collate "C",
  session text collate "C",
  state text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX permits_by_born ON inkfast.permits USING btree (tenant, born, id);
CREATE INDEX permits_by_digest ON inkfast.permits USING btree (tenant, digest NULLS FIRST, state NULLS FIRST, born, id);
CREATE INDEX permits_by_session ON inkfast.permits USING btree (tenant, session NULLS FIRST, state NULLS FIRST, born, id);
alter table inkfast.permits enable row level security, force row level security;
create policy tenant on inkfast.permits for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.permits to inkfast_app;
grant select on inkfast.permits to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.pins (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX pins_by_born ON inkfast.pins USING btree (tenant, born, id);
alter table inkfast.pins enable row level security, force row level security;
create policy tenant on inkfast.pins for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.pins to inkfast_app;
grant select on inkfast.pins to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.postings (
  tenant text collate "C" not null,
  term bigint not null,
  about bigint not null,
  doc bigint not null,
  tf integer not null,
  tf_tags integer not null,
  tf_source integer not null,
  len integer not null,
  PRIMARY KEY (tenant, term, about, doc) INCLUDE (tf, tf_tags, tf_source, len)
);
alter table inkfast.postings enable row level security, force row level security;
create policy tenant on inkfast.postings for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select on inkfast.postings to inkfast_app;
grant select on inkfast.postings to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.process_events (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  process text collate "C",
  number bigint,
  type text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX process_events_by_process ON inkfast.process_events USING btree (tenant, process NULLS FIRST, number NULLS FIRST, id);
CREATE INDEX process_events_by_type ON inkfast.process_events USING btree (tenant, process NULLS FIRST, type NULLS FIRST, number NULLS FIRST, id);
alter table inkfast.process_events enable row level security, force row level security;
create policy tenant on inkfast.process_events for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.process_events to inkfast_app;
grant select on inkfast.process_events to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.processes (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  state text collate "C",
  kind text collate "C",
  wake text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX processes_by_born ON inkfast.processes USING btree (tenant, born, id);
CREATE INDEX processes_by_kind ON inkfast.processes USING btree (tenant, kind NULLS FIRST, born, id);
CREATE INDEX processes_by_state ON inkfast.processes USING btree (tenant, state NULLS FIRST, born, id);
CREATE INDEX processes_by_wake ON inkfast.processes USING btree (tenant, wake NULLS FIRST, born, id);
alter table inkfast.processes enable row level security, force row level security;
create policy tenant on inkfast.processes for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.processes to inkfast_app;
grant select on inkfast.processes to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.receipts (
  tenant text collate "C" not null,
  key bytea not null,
  seq bigint not null,
  count bigint not null,
  body bytea not null,
  at bigint not null,
  digest bytea not null,
  PRIMARY KEY (tenant, key)
);
CREATE INDEX receipts_by_at ON inkfast.receipts USING btree (tenant, at);
alter table inkfast.receipts enable row level security, force row level security;
create policy tenant on inkfast.receipts for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select on inkfast.receipts to inkfast_app;
grant select on inkfast.receipts to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.refs (
  tenant text collate "C" not null,
  seq bigint not null,
  ref text collate "C" not null,
  PRIMARY KEY (tenant, seq, ref)
);
alter table inkfast.refs enable row level security, force row level security;
create policy tenant on inkfast.refs for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select on inkfast.refs to inkfast_app;
grant select on inkfast.refs to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.renewals (
  tenant text collate "C" not null,
  id text collate "C" not null,
  fence bigint not null,
  until bigint not null,
  PRIMARY KEY (tenant, id)
);
alter table inkfast.renewals enable row level security, force row level security;
create policy tenant on inkfast.renewals for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.renewals to inkfast_app;
grant select on inkfast.renewals to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.runs (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  state text collate "C",
  session text collate "C",
  name text collate "C",
  parent text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX runs_by_born ON inkfast.runs USING btree (tenant, born, id);
CREATE INDEX runs_by_name ON inkfast.runs USING btree (tenant, name NULLS FIRST, born, id);
CREATE INDEX runs_by_parent ON inkfast.runs USING btree (tenant, parent NULLS FIRST, born, id);
CREATE INDEX runs_by_session ON inkfast.runs USING btree (tenant, session NULLS FIRST, born, id);
CREATE INDEX runs_by_session_and_state ON inkfast.runs USING btree (tenant, session NULLS FIRST, state NULLS FIRST, born, id);
CREATE INDEX runs_by_state ON inkfast.runs USING btree (tenant, state NULLS FIRST, born, id);
alter table inkfast.runs enable row level security, force row level security;
create policy tenant on inkfast.runs for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.runs to inkfast_app;
grant select on inkfast.runs to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.secrets (
  name text collate "C" not null,
  value bytea not null,
  PRIMARY KEY (name)
);
alter table inkfast.secrets enable row level security, force row level security;
create policy store on inkfast.secrets for all to inkfast_app using ((( SELECT inkfast.tenant() AS tenant) = '*'::text)) with check ((( SELECT inkfast.tenant() AS tenant) = '*'::text));
grant insert, select on inkfast.secrets to inkfast_app;

-- owner: inkfast_owner
create table inkfast.session_heads (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX session_heads_by_session ON inkfast.session_heads USING btree (tenant, session NULLS FIRST, born, id);
alter table inkfast.session_heads enable row level security, force row level security;
create policy tenant on inkfast.session_heads for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.session_heads to inkfast_app;
grant select on inkfast.session_heads to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.sessions (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  state text collate "C",
  owner text collate "C",
  branch text collate "C",
  relation text collate "C",
  parent text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX sessions_by_born ON inkfast.sessions USING btree (tenant, born, id);
CREATE INDEX sessions_by_branch ON inkfast.sessions USING btree (tenant, branch NULLS FIRST, born, id);
CREATE INDEX sessions_by_owner ON inkfast.sessions USING btree (tenant, owner NULLS FIRST, born, id);
CREATE INDEX sessions_by_owner_and_state ON inkfast.sessions USING btree (tenant, owner NULLS FIRST, state NULLS FIRST, born, id);
CREATE INDEX sessions_by_parent ON inkfast.sessions USING btree (tenant, parent NULLS FIRST, born, id);
CREATE INDEX sessions_by_relation ON inkfast.sessions USING btree (tenant, relation NULLS FIRST, born, id);
CREATE INDEX sessions_by_state ON inkfast.sessions USING btree (tenant, state NULLS FIRST, born, id);
alter table inkfast.sessions enable row level security, force row level security;
create policy tenant on inkfast.sessions for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.sessions to inkfast_app;
grant select on inkfast.sessions to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.signals (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  name text collate "C",
  state text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX signals_by_session ON inkfast.signals USING btree (tenant, session NULLS FIRST, name NULLS FIRST, state NULLS FIRST, born, id);
alter table inkfast.signals enable row level security, force row level security;
create policy tenant on inkfast.signals for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.signals to inkfast_app;
grant select on inkfast.signals to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.snapshots (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX snapshots_by_born ON inkfast.snapshots USING btree (tenant, born, id);
alter table inkfast.snapshots enable row level security, force row level security;
create policy tenant on inkfast.snapshots for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.snapshots to inkfast_app;
grant select on inkfast.snapshots to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.sources (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX sources_by_born ON inkfast.sources USING btree (tenant, born, id);
alter table inkfast.sources enable row level security, force row level security;
create policy tenant on inkfast.sources for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.sources to inkfast_app;
grant select on inkfast.sources to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.state (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  key text collate "C",
  expires bigint,
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX state_by_expiry ON inkfast.state USING btree (tenant, expires NULLS FIRST, id);
CREATE INDEX state_by_key ON inkfast.state USING btree (tenant, session NULLS FIRST, key NULLS FIRST, id);
alter table inkfast.state enable row level security, force row level security;
create policy tenant on inkfast.state for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.state to inkfast_app;
grant select on inkfast.state to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.terms (
  id bigint not null,
  tenant text collate "C" not null,
  source text collate "C" not null,
  term text collate "C" not null,
  df bigint not null,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX terms_by_key ON inkfast.terms USING btree (tenant, source, term);
alter table inkfast.terms enable row level security, force row level security;
create policy tenant on inkfast.terms for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.terms to inkfast_app;
grant select on inkfast.terms to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.threads (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  owner text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX threads_by_born ON inkfast.threads USING btree (tenant, born, id);
CREATE INDEX threads_by_owner ON inkfast.threads USING btree (tenant, owner NULLS FIRST, born, id);
CREATE INDEX threads_by_session ON inkfast.threads USING btree (tenant, session NULLS FIRST, born, id);
alter table inkfast.threads enable row level security, force row level security;
create policy tenant on inkfast.threads for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.threads to inkfast_app;
grant select on inkfast.threads to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.triggers (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  source text collate "C",
  state text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX triggers_by_born ON inkfast.triggers USING btree (tenant, born, id);
CREATE INDEX triggers_by_source ON inkfast.triggers USING btree (tenant, source NULLS FIRST, state NULLS FIRST, born, id);
CREATE INDEX triggers_by_state ON inkfast.triggers USING btree (tenant, state NULLS FIRST, born, id);
alter table inkfast.triggers enable row level security, force row level security;
create policy tenant on inkfast.triggers for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.triggers to inkfast_app;
grant select on inkfast.triggers to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.turns (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX turns_by_session ON inkfast.turns USING btree (tenant, session NULLS FIRST, born, id);
alter table inkfast.turns enable row level security, force row level security;
create policy tenant on inkfast.turns for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.turns to inkfast_app;
grant select on inkfast.turns to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.usage (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  session text collate "C",
  hour bigint,
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX usage_by_hour ON inkfast.usage USING btree (tenant, hour NULLS FIRST, id);
CREATE INDEX usage_by_session ON inkfast.usage USING btree (tenant, session NULLS FIRST, hour NULLS FIRST, id);
alter table inkfast.usage enable row level security, force row level security;
create policy tenant on inkfast.usage for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.usage to inkfast_app;
grant select on inkfast.usage to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.vector_collections (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  state text collate "C",
  name text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX vector_collections_by_name ON inkfast.vector_collections USING btree (tenant, state NULLS FIRST, name NULLS FIRST, id);
alter table inkfast.vector_collections enable row level security, force row level security;
create policy tenant on inkfast.vector_collections for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.vector_collections to inkfast_app;
grant select on inkfast.vector_collections to inkfast_reader;

-- owner: inkfast_owner
create table inkfast.vectors (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  collection text collate "C",
  body text collate "C" not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX vectors_by_collection ON inkfast.vectors USING btree (tenant, collection NULLS FIRST, id);
alter table inkfast.vectors enable row level security, force row level security;
create policy tenant on inkfast.vectors for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.vectors to inkfast_app;
grant select on inkfast.vectors to inkfast_reader;

-- owner: inkfast_wall
create table inkfast.wall_keys (
  id text collate "C" not null,
  inner_pad bytea not null,
  outer_pad bytea not null,
  made_at bigint not null,
  PRIMARY KEY (id)
);
alter table inkfast.wall_keys enable row level security, force row level security;
create policy wall on inkfast.wall_keys for all to inkfast_wall using (true) with check (true);

-- owner: inkfast_owner
create table inkfast.work (
  tenant text collate "C" not null,
  id text collate "C" not null,
  born bigint not null,
  revision bigint not null,
  fence bigint,
  queue text collate "C",
  state text collate "C",
  priority bigint,
  at bigint,
  series text collate "C",
  body text collate "C" not null,
  behind boolean default false not null,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX work_by_due ON inkfast.work USING btree (tenant, queue NULLS FIRST, at NULLS FIRST, id);
CREATE INDEX work_by_front ON inkfast.work USING btree (tenant, series NULLS FIRST, born, id) WHERE ((series IS NOT NULL) AND (state IS DISTINCT FROM 'dead'::text) AND (NOT behind));
CREATE INDEX work_by_ready ON inkfast.work USING btree (tenant, queue NULLS FIRST, state NULLS FIRST, priority NULLS FIRST, at NULLS FIRST, born, id);
CREATE INDEX work_by_series ON inkfast.work USING btree (tenant, series NULLS FIRST, born, id) WHERE ((series IS NOT NULL) AND (state IS DISTINCT FROM 'dead'::text));
CREATE INDEX work_by_turn ON inkfast.work USING btree (tenant, queue NULLS FIRST, priority NULLS FIRST, at NULLS FIRST, born, id) WHERE ((state = 'ready'::text) AND (NOT behind));
CREATE TRIGGER work_comes BEFORE INSERT ON inkfast.work FOR EACH ROW WHEN (((new.series IS NOT NULL) AND (new.state IS DISTINCT FROM 'dead'::text))) EXECUTE FUNCTION inkfast.work_behind();
CREATE TRIGGER work_enters AFTER UPDATE OF series, state ON inkfast.work FOR EACH ROW WHEN (((new.series IS NOT NULL) AND (new.state IS DISTINCT FROM 'dead'::text) AND (NOT new.behind) AND ((new.series IS DISTINCT FROM old.series) OR (NOT (old.state IS DISTINCT FROM 'dead'::text))))) EXECUTE FUNCTION inkfast.work_turns('new');
CREATE TRIGGER work_goes AFTER UPDATE OF series, state ON inkfast.work FOR EACH ROW WHEN (((old.series IS NOT NULL) AND (old.state IS DISTINCT FROM 'dead'::text) AND (NOT old.behind) AND ((new.series IS DISTINCT FROM old.series) OR (NOT (new.state IS DISTINCT FROM 'dead'::text))))) EXECUTE FUNCTION inkfast.work_turns('old');
CREATE TRIGGER work_hastens AFTER UPDATE OF queue, at ON inkfast.work FOR EACH ROW WHEN (((new.queue IS NOT NULL) AND (new.at IS NOT NULL) AND ((old.at IS NULL) OR (new.at < old.at) OR (new.queue IS DISTINCT FROM old.queue)))) EXECUTE FUNCTION inkfast.work_hastens();
CREATE TRIGGER work_joins AFTER INSERT ON inkfast.work FOR EACH ROW WHEN (((new.series IS NOT NULL) AND (new.state IS DISTINCT FROM 'dead'::text) AND (NOT new.behind))) EXECUTE FUNCTION inkfast.work_turns('new');
CREATE TRIGGER work_leaves AFTER DELETE ON inkfast.work FOR EACH ROW WHEN (((old.series IS NOT NULL) AND (old.state IS DISTINCT FROM 'dead'::text) AND (NOT old.behind))) EXECUTE FUNCTION inkfast.work_turns('old');
CREATE TRIGGER work_moves BEFORE UPDATE OF series, state ON inkfast.work FOR EACH ROW WHEN (((new.series IS DISTINCT FROM old.series) OR ((new.state IS DISTINCT FROM 'dead'::text) IS DISTINCT FROM (old.state IS DISTINCT FROM 'dead'::text)))) EXECUTE FUNCTION inkfast.work_behind();
CREATE TRIGGER work_offers AFTER INSERT ON inkfast.work REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION inkfast.work_offers();
alter table inkfast.work enable row level security, force row level security;
create policy tenant on inkfast.work for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
create policy wall on inkfast.work for select to inkfast_wall using (true);
grant delete, insert, select, update on inkfast.work to inkfast_app;
grant select on inkfast.work to inkfast_reader;
grant select (at), select (queue), select (tenant) on inkfast.work to inkfast_wall;

-- owner: inkfast_owner
create table inkfast.workers (
  tenant text collate "C" not null,
  id text collate "C" not null,
  version text collate "C" not null,
  queues text collate "C" not null,
  at bigint not null,
  until bigint not null,
  PRIMARY KEY (tenant, id)
);
alter table inkfast.workers enable row level security, force row level security;
create policy tenant on inkfast.workers for all to inkfast_app, inkfast_reader using ((tenant = ( SELECT inkfast.tenant() AS tenant))) with check ((tenant = ( SELECT inkfast.tenant() AS tenant)));
grant delete, insert, select, update on inkfast.workers to inkfast_app;
grant select on inkfast.workers to inkfast_reader;

-- owner: inkfast_owner
create type inkfast.content_list as (tenant text, now bigint, outs boolean[], node_commits integer[], node_refs bytea, node_from integer[], node_size integer[], node_bodies bytea, ref_seqs bigint[], ref_names text[], named text[]);

-- owner: inkfast_owner
create type inkfast.guard_list as (tenant text, names text[], ids text[], wants bigint[], fences boolean[]);

-- owner: inkfast_owner
create type inkfast.put_list as (tenant text, base bigint, partly boolean, seqs bigint[], outs boolean[], names text[], ids text[], commits integer[], borns integer[], revisions integer[], fences integer[], columns text[], starts integer[], sizes integer[], bodies bytea);

-- owner: inkfast_owner
create type inkfast.remove_list as (tenant text, outs boolean[], names text[], ids text[], commits integer[]);

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.change_state_v1(p_tenant text, p_from bigint, p_hash bytea, p_to bigint, p_new bytea, p_state text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if not inkfast.is_signed('inkfast/1/state:' || p_tenant || ':' || left(p_state, -65), right(p_state, 64)) then
    raise exception 'inkfast: the state is not signed with a key of this store' using errcode = 'IF002';
  end if;
  update inkfast.heads h set seq = p_to, hash = p_new, state = left(p_state, -65)
  where h.tenant between p_tenant and p_tenant and h.seq = p_from and h.hash = p_hash and p_to >= p_from;
  return case when found then p_tenant end;
end
$function$;
grant execute on function inkfast.change_state_v1(text,bigint,bytea,bigint,bytea,text) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.commit_v1(p_tenant text, p_durable boolean, p_lock_ms integer, p_commits integer, p_since bigint, p_sinces bigint[], p_firsts integer[], p_events integer, p_event_commits integer[], p_at bigint[], p_type text[], p_schema bigint[], p_class smallint[], p_actor text[], p_bytes bytea, p_seldom boolean, p_payload_from integer[], p_payload_size integer[], p_payloads bytea, p_key_commits integer[], p_keys bytea, p_key_bodies bytea, p_guard_tables text[], p_guard_ids text[], p_guard_wants bigint[], p_guard_fences boolean[], p_pair_commits integer[], p_pair_guards integer[], p_guard_names text[], p_remove_tables text[], p_remove_ids text[], p_remove_commits integer[], p_remove_names text[], p_put_tables text[], p_put_ids text[], p_put_commits integer[], p_put_borns integer[], p_put_revisions integer[], p_put_fences integer[], p_put_columns text[], p_put_from integer[], p_put_size integer[], p_put_bodies bytea, p_put_names text[], p_erase bigint[], p_state text, p_node_commits integer[], p_node_from integer[], p_node_size integer[], p_node_refs bytea, p_node_bodies bytea, p_ref_events integer[], p_ref_names text[], OUT base bigint, OUT hashes bytea, OUT odd jsonb, OUT now bigint)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
declare
  v_set    text;
  v_tenant text;
  v_state  text;
  v_was    bytea;
  v_hash   bytea;
  v_seq    bigint;
  v_node   bigint;
  v_row    record;
  v_seqs   bigint[];
  v_name   text;
  v_done   boolean;
  v_pairs  bigint[];
  v_fails  bigint[];
  v_finds  bigint[];
  v_at     integer;
  v_any    boolean := false;
  v_out    boolean[] := array_fill(false, array[p_commits]);
begin
  -- One expression, assigned and not performed: PL/pgSQL sets up each expression in every transaction, and a query costs ten times that.
  v_set := set_config('inkfast.tenant', p_tenant, true) || set_config('bytea_output', 'hex', true)
    || set_config('lock_timeout', p_lock_ms::text, true) || set_config('synchronous_commit', case when p_durable then 'on' else 'off' end, true);
  -- A name only, until row-level security shows its head. A head that is not shown does not exist, or belongs to another tenant.
  v_tenant := rtrim(left(p_tenant, -65), '!');

  -- The head is locked first, so guards need no locks of their own, and two batches cannot deadlock.
  select h.seq, h.seq, h.hash, h.hash, h.state, '[]'::jsonb, ''::bytea, c.offset_ms into v_seq, base, v_was, v_hash, v_state, odd, hashes, now
  from inkfast.heads h, inkfast.clock c where h.tenant = v_tenant and c.id for update of h;
  if not found then
    if inkfast.tenant() is distinct from v_tenant then
      raise exception 'inkfast: the tenant is not signed with a key of this store' using errcode = 'IF002';
    end if;
    perform inkfast.join_v1();
    select h.seq, h.seq, h.hash, h.hash, h.state, '[]'::jsonb, ''::bytea, c.offset_ms into v_seq, base, v_was, v_hash, v_state, odd, hashes, now
    from inkfast.heads h, inkfast.clock c where h.tenant = v_tenant and c.id for update of h;
  end if;
  now := now + floor(extract(epoch from clock_timestamp()) * 1000)::bigint;
  if v_state <> 'active' and (p_state is null or (v_state = 'deleted' and left(p_state, -65) <> 'deleted')) then
    odd := (select jsonb_agg(jsonb_build_object('commit', n, 'kind', 'tenant', 'state', v_state)) from generate_series(1, p_commits) n);
    return;
  end if;

  -- An earlier sending, by its key. The caller, who has the command, compares it.
  if p_key_commits is not null then
    for v_row in
      select k.commit, r.seq, r.count, r.at, encode(r.body, 'hex') as body, encode(r.digest, 'hex') as digest, encode(e.salt, 'hex') as salt
      from unnest(p_key_commits) with ordinality as k (commit, n)
      cross join lateral (select substring(p_keys from (k.n::integer - 1) * 16 + 1 for 16) as key offset 0) a
      cross join lateral (
        select t.seq, t.count, t.body, t.at, t.digest from inkfast.receipts t where t.tenant = v_tenant and t.key between a.key and a.key order by t.key limit 1
      ) r
      left join lateral (
        select t.salt from inkfast.events t where t.tenant = v_tenant and t.seq between r.seq and r.seq order by t.seq limit 1
      ) e on true
    loop
      v_any := true;
      v_out[v_row.commit] := true;
      odd := odd || jsonb_build_object('commit', v_row.commit, 'kind', 'key', 'seq', v_row.seq, 'count', v_row.count,
        'at', v_row.at, 'body', v_row.body, 'digest', v_row.digest, 'salt', v_row.salt, 'receipts', (
          select jsonb_agg(jsonb_build_array(encode(r.id, 'hex'), encode(r.hash, 'hex'))) from (
            select t.id, t.hash from inkfast.events t
            where t.tenant = v_tenant and t.seq >= v_row.seq and t.seq < v_row.seq + v_row.count order by t.seq offset 0
          ) r));
    end loop;
  end if;

  -- An earlier sending, by the id of its first event, beyond the head that the sender knew.
  if p_since < v_seq then
    for v_row in
      select c.n as commit, min(e.seq) as seq
      from generate_series(1, p_commits) c (n)
      cross join lateral (select substring(p_bytes from (coalesce(p_firsts[c.n], c.n) - 1) * 176 + 1 for 16) as id offset 0) a
      cross join lateral (
        select t.seq from inkfast.events t where t.tenant = v_tenant and t.id between a.id and a.id order by t.id offset 0
      ) e
      where not v_out[c.n] and coalesce(p_firsts[c.n], c.n) > 0 and e.seq > coalesce(p_sinces[c.n], p_since)
      group by c.n
    loop
      v_any := true;
      v_out[v_row.commit] := true;
      v_at := case when p_event_commits is null then 1 else cardinality(array_positions(p_event_commits, v_row.commit)) end;
      odd := odd || jsonb_build_object('commit', v_row.commit, 'kind', 'sent', 'seq', v_row.seq, 'receipts', (
          select jsonb_agg(jsonb_build_array(encode(r.id, 'hex'), encode(r.hash, 'hex'))) from (
            select t.id, t.hash from inkfast.events t
            where t.tenant = v_tenant and t.seq >= v_row.seq and t.seq < v_row.seq + v_at order by t.seq offset 0
          ) r));
    end loop;
  end if;

  -- Guards: each distinct guard once, however many commits share it.
  if p_guard_tables is not null then
    if '' = any (p_guard_tables) then
      select array_agg(g.n), array_agg(e.seq) into v_fails, v_finds
      from unnest(p_guard_tables, p_guard_ids, p_guard_wants) with ordinality as g (name, id, wanted, n)
      cross join lateral (
        select t.session, t.seq from inkfast.events t
        where t.tenant = v_tenant and t.session <= decode(g.id, 'hex') order by t.session desc, t.seq desc limit 1
      ) e
      where g.name = '' and e.session = decode(g.id, 'hex') and e.seq > g.wanted;
    end if;
    if p_guard_names is not null then
      foreach v_name in array p_guard_names loop
        v_pairs := inkfast.guard_rows(v_name, row(v_tenant, p_guard_tables, p_guard_ids, p_guard_wants, p_guard_fences)::inkfast.guard_list);
        if v_pairs is not null then
          for i in 1 .. array_length(v_pairs, 1) loop
            v_fails := v_fails || v_pairs[i][1];
            v_finds := v_finds || v_pairs[i][2];
          end loop;
        end if;
      end loop;
    end if;
    if v_fails is not null then
      for i in 1 .. cardinality(p_pair_commits) loop
        v_at := array_position(v_fails, p_pair_guards[i]::bigint);
        if v_at is not null and not v_out[p_pair_commits[i]] then
          v_any := true;
          v_out[p_pair_commits[i]] := true;
          odd := odd || jsonb_build_object('commit', p_pair_commits[i], 'kind', 'guard', 'pair', i, 'found', v_finds[v_at]);
        end if;
      end loop;
    end if;
  end if;

  -- The links, one after the other: the only step that cannot be set-based.
  if v_any then
    v_seqs := array_fill(null::bigint, array[p_events]);
    for i in 1 .. p_events loop
      if not v_out[coalesce(p_event_commits[i], i)] then
        v_seq := v_seq + 1;
        v_hash := sha256('\x696e6b666173742f312f6c696e6b00'::bytea || v_hash || int8send(v_seq) || substring(p_bytes from 176 * i - 111 for 32));
        v_seqs[i] := v_seq;
        hashes := hashes || v_hash;
      end if;
    end loop;
  else
    for i in 1 .. p_events loop
      v_hash := sha256('\x696e6b666173742f312f6c696e6b00'::bytea || v_hash || int8send(base + i) || substring(p_bytes from 176 * i - 111 for 32));
      hashes := hashes || v_hash;
    end loop;
    v_seq := base + p_events;
  end if;

  if v_seq > base then
    insert into inkfast.events
      (tenant, seq, id, at, type, schema, class, actor, session, run, subject, cause, key, payload, salt, digest, hash)
    select v_tenant, case when v_any then v_seqs[d.n] else base + nullif(d.n, 0) end, substring(p_bytes from d.n::integer * 176 - 175 for 16), d.at, d.type, coalesce(d.schema, 1), coalesce(d.class, 0::smallint), coalesce(d.actor, ''),
      nullif(substring(p_bytes from d.n::integer * 176 - 79 for 16), '\x00000000000000000000000000000000'::bytea),
      case when p_seldom then nullif(substring(p_bytes from d.n::integer * 176 - 63 for 16), '\x00000000000000000000000000000000'::bytea) end, case when p_seldom then nullif(substring(p_bytes from d.n::integer * 176 - 47 for 16), '\x00000000000000000000000000000000'::bytea) end,
      case when p_seldom then nullif(substring(p_bytes from d.n::integer * 176 - 31 for 16), '\x00000000000000000000000000000000'::bytea) end, case when p_seldom then nullif(substring(p_bytes from d.n::integer * 176 - 15 for 16), '\x00000000000000000000000000000000'::bytea) end,
      convert_from(substring(p_payloads from d.payload_from for d.payload_size), 'UTF8'),
      substring(p_bytes from d.n::integer * 176 - 159 for 16), substring(p_bytes from d.n::integer * 176 - 143 for 32), substring(hashes from (case when v_any then v_seqs[d.n] else base + nullif(d.n, 0) end - base)::integer * 32 - 31 for 32)
    from unnest(p_at, p_type, p_schema, p_class, p_actor, p_payload_from, p_payload_size) with ordinality
      as d (at, type, schema, class, actor, payload_from, payload_size, n)
    where not v_any or v_seqs[d.n] is not null;
  end if;
  -- Erasures and states come in a batch of one.
  if (v_seq > base or (p_state is not null and not v_out[1]))
    and (case when p_state is null then inkfast.move_head_v1(v_tenant, base, v_was, v_seq, v_hash)
      else inkfast.change_state_v1(v_tenant, base, v_was, v_seq, v_hash, p_state) end) is null
  then
    raise exception 'the locked head did not move' using errcode = 'IF003';
  end if;

  if coalesce(p_node_commits, p_ref_events) is not null or 'content' = any (p_guard_names) then
    v_done := inkfast.put_content(row(v_tenant, now, v_out, p_node_commits, p_node_refs, p_node_from, p_node_size, p_node_bodies,
      (select array_agg(case when r.event between 1 and p_events then case when v_any then v_seqs[r.event] else base + nullif(r.event, 0) end end order by r.n)
       from unnest(p_ref_events) with ordinality as r (event, n)),
      p_ref_names,
      (select array_agg(p_guard_ids[p_pair_guards[p.n]]) from unnest(p_pair_commits) with ordinality as p (commit, n)
       where p_guard_tables[p_pair_guards[p.n]] = 'content' and not v_out[p.commit])
    )::inkfast.content_list);
  end if;

  if coalesce(p_remove_tables, p_put_tables) is null and p_key_commits is null and p_erase is null then
    return;
  end if;

  -- Removals come before puts, because a commit may remove a row and put it again.
  if p_remove_names is not null then
    foreach v_name in array p_remove_names loop
      v_done := inkfast.remove_rows(v_name, row(v_tenant, v_out, p_remove_tables, p_remove_ids, p_remove_commits)::inkfast.remove_list);
    end loop;
  end if;
  if p_put_names is not null then
    foreach v_name in array p_put_names loop
      v_done := inkfast.put_rows(v_name, row(v_tenant, base, v_any, v_seqs, v_out, p_put_tables, p_put_ids, p_put_commits, p_put_borns,
        p_put_revisions, p_put_fences, p_put_columns, p_put_from, p_put_size, p_put_bodies)::inkfast.put_list);
    end loop;
  end if;

  if p_key_commits is not null then
    insert into inkfast.receipts (tenant, key, seq, count, body, at, digest)
    select v_tenant, r.key, r.seq, r.count, r.body, now, substring(sha256('\x696e6b666173742f312f7265636569707400'::bytea || int4send(octet_length(v_tenant)) || convert_to(v_tenant, 'UTF8')
      || r.key || int8send(r.seq) || int8send(r.count) || r.body || int8send(now)) for 16)
    from (select substring(p_keys from (k.n::integer - 1) * 16 + 1 for 16) as key, case when v_any then v_seqs[coalesce(p_firsts[k.commit], k.commit)] else base + nullif(coalesce(p_firsts[k.commit], k.commit), 0) end as seq,
      case when p_event_commits is null then 1 else cardinality(array_positions(p_event_commits, k.commit)) end as count,
      substring(p_key_bodies from (k.n::integer - 1) * 32 + 1 for 32) as body
    from unnest(p_key_commits) with ordinality as k (commit, n)
    where not v_out[k.commit] and coalesce(p_firsts[k.commit], 1) > 0) r;
  end if;

  if p_erase is not null and not v_out[1] then
    foreach v_seq in array p_erase loop
      delete from inkfast.refs r where r.tenant = v_tenant and r.seq = v_seq;
      update inkfast.events e set payload = null, salt = null
      where e.ctid = (
        select t.ctid from inkfast.events t where t.tenant = v_tenant and t.seq between v_seq and v_seq order by t.seq limit 1);
      if not found then
        raise exception 'only events that exist are erased' using errcode = 'IF003';
      end if;
    end loop;
  end if;
end
$function$;
grant execute on function inkfast.commit_v1(text,boolean,integer,integer,bigint,bigint[],integer[],integer,integer[],bigint[],text[],bigint[],smallint[],text[],bytea,boolean,integer[],integer[],bytea,integer[],bytea,bytea,text[],text[],bigint[],boolean[],integer[],integer[],text[],text[],text[],integer[],text[],text[],text[],integer[],integer[],integer[],integer[],text[],integer[],integer[],bytea,text[],bigint[],text,integer[],integer[],integer[],bytea,bytea,integer[],text[]) to inkfast_app;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.due_v1(p_queue text, p_at bigint, p_tenant text, p_limit integer)
 RETURNS TABLE(tenant text, at bigint, next bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if inkfast.tenant() is distinct from '*' then
    raise exception 'inkfast: only the store itself may look for what is due' using errcode = 'IF002';
  end if;
  return query
    select d.tenant::text, d.at, (
      select w.at from inkfast.heads h cross join lateral (
        select w.at from inkfast.work w
        where w.tenant = d.tenant and w.queue = p_queue and w.at is not null
        order by w.at nulls first limit 1) w
      where h.tenant = d.tenant and h.state = 'active')
    from (
      select t.tenant, t.at from inkfast.due t
      where t.queue = p_queue and (t.at, t.tenant) > (p_at, p_tenant)
      order by t.at, t.tenant limit p_limit) d;
end
$function$;
grant execute on function inkfast.due_v1(text,bigint,text,integer) to inkfast_app;
grant execute on function inkfast.due_v1(text,bigint,text,integer) to inkfast_reader;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.enter_v1(p_tenant text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_set    text := set_config('inkfast.tenant', p_tenant, true);
  v_tenant text := inkfast.tenant();
  v_state  text;
begin
  if v_tenant is null then
    raise exception 'inkfast: the tenant is not signed with a key of this store' using errcode = 'IF002';
  end if;
  if left(p_tenant, -65) like '%!' or v_tenant = '*' then
    return;
  end if;
  select state into v_state from inkfast.heads where tenant = v_tenant;
  if v_state <> 'active' then
    raise exception 'inkfast: tenant % is %', v_tenant, v_state using errcode = 'IF001', detail = v_state;
  end if;
end
$function$;
grant execute on function inkfast.enter_v1(text) to inkfast_app;
grant execute on function inkfast.enter_v1(text) to inkfast_reader;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.events_by_commit()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  raise exception 'inkfast: only a commit of a node inserts events' using errcode = 'IF003';
end
$function$;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.events_stay()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if tg_op = 'UPDATE' then
    if new.payload is null and new.salt is null
      and (new.tenant, new.seq, new.id, new.at, new.type, new.schema, new.class, new.actor, new.digest, new.hash)
        = (old.tenant, old.seq, old.id, old.at, old.type, old.schema, old.class, old.actor, old.digest, old.hash)
      and (new.session, new.run, new.subject, new.cause, new.key)
        is not distinct from (old.session, old.run, old.subject, old.cause, old.key)
    then
      return new;
    end if;
  end if;
  raise exception 'inkfast: events are append-only' using errcode = 'IF003';
end
$function$;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_approvals(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.approvals t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'approvals' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_approvals(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_artifacts(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.artifacts t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'artifacts' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_artifacts(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_attachments(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.attachments t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'attachments' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_attachments(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_canvas_snapshots(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.canvas_snapshots t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'canvas_snapshots' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_canvas_snapshots(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_canvases(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.canvases t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'canvases' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_canvases(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_content(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, 0])
    from unnest(p.names, p.ids) with ordinality as g (name, id, n)
    where coalesce(g.name, 'content') = 'content' and case when g.id like 'blob:%'
      then coalesce((
        select t.state from inkfast.blobs t
        where t.tenant = p.tenant and t.digest between substring(g.id from 6) and substring(g.id from 6) order by t.digest limit 1), 'deleting') = 'deleting'
      else (
        select t.id from inkfast.nodes t
        where t.tenant = p.tenant and t.ref between decode(g.id, 'hex') and decode(g.id, 'hex') order by t.ref limit 1) is null end);
end
$function$;
grant execute on function inkfast.guard_content(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_core(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.core t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'core' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_core(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_deliveries(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.deliveries t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'deliveries' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_deliveries(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_firings(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.firings t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'firings' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_firings(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_grants(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.grants t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'grants' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_grants(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_graph_nodes(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.graph_nodes t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'graph_nodes' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_graph_nodes(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_inbox(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.inbox t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'inbox' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_inbox(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_inputs(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.inputs t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'inputs' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_inputs(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_jobs(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.jobs t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'jobs' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_jobs(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_leases(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, coalesce(case when g.fence then r.fence else r.revision end, 0)])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision, t.fence from inkfast.leases t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'leases' and coalesce(case when g.fence then r.fence else r.revision end, 0) <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_leases(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_memory(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.memory t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'memory' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_memory(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_messages(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.messages t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'messages' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_messages(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_names(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.names t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'names' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_names(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_occurrences(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.occurrences t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'occurrences' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_occurrences(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_permits(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.permits t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'permits' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_permits(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_pins(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.pins t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'pins' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_pins(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_process_events(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.process_events t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'process_events' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_process_events(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_processes(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.processes t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'processes' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_processes(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_rows(p_name text, p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  if p_name collate "C" < 'permits' then
    if p_name collate "C" < 'graph_nodes' then
      if p_name collate "C" < 'content' then
        if p_name collate "C" < 'canvas_snapshots' then
          if p_name = 'approvals' then return inkfast.guard_approvals(p);
          elsif p_name = 'artifacts' then return inkfast.guard_artifacts(p);
          elsif p_name = 'attachments' then return inkfast.guard_attachments(p);
          end if;
        else
          if p_name = 'canvas_snapshots' then return inkfast.guard_canvas_snapshots(p);
          elsif p_name = 'canvases' then return inkfast.guard_canvases(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'firings' then
          if p_name = 'content' then return inkfast.guard_content(p);
          elsif p_name = 'core' then return inkfast.guard_core(p);
          elsif p_name = 'deliveries' then return inkfast.guard_deliveries(p);
          end if;
        else
          if p_name = 'firings' then return inkfast.guard_firings(p);
          elsif p_name = 'grants' then return inkfast.guard_grants(p);
          end if;
        end if;
      end if;
    else
      if p_name collate "C" < 'memory' then
        if p_name collate "C" < 'jobs' then
          if p_name = 'graph_nodes' then return inkfast.guard_graph_nodes(p);
          elsif p_name = 'inbox' then return inkfast.guard_inbox(p);
          elsif p_name = 'inputs' then return inkfast.guard_inputs(p);
          end if;
        else
          if p_name = 'jobs' then return inkfast.guard_jobs(p);
          elsif p_name = 'leases' then return inkfast.guard_leases(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'names' then
          if p_name = 'memory' then return inkfast.guard_memory(p);
          elsif p_name = 'messages' then return inkfast.guard_messages(p);
          end if;
        else
          if p_name = 'names' then return inkfast.guard_names(p);
          elsif p_name = 'occurrences' then return inkfast.guard_occurrences(p);
          end if;
        end if;
      end if;
    end if;
  else
    if p_name collate "C" < 'sources' then
      if p_name collate "C" < 'session_heads' then
        if p_name collate "C" < 'processes' then
          if p_name = 'permits' then return inkfast.guard_permits(p);
          elsif p_name = 'pins' then return inkfast.guard_pins(p);
          elsif p_name = 'process_events' then return inkfast.guard_process_events(p);
          end if;
        else
          if p_name = 'processes' then return inkfast.guard_processes(p);
          elsif p_name = 'runs' then return inkfast.guard_runs(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'signals' then
          if p_name = 'session_heads' then return inkfast.guard_session_heads(p);
          elsif p_name = 'sessions' then return inkfast.guard_sessions(p);
          end if;
        else
          if p_name = 'signals' then return inkfast.guard_signals(p);
          elsif p_name = 'snapshots' then return inkfast.guard_snapshots(p);
          end if;
        end if;
      end if;
    else
      if p_name collate "C" < 'usage' then
        if p_name collate "C" < 'triggers' then
          if p_name = 'sources' then return inkfast.guard_sources(p);
          elsif p_name = 'state' then return inkfast.guard_state(p);
          elsif p_name = 'threads' then return inkfast.guard_threads(p);
          end if;
        else
          if p_name = 'triggers' then return inkfast.guard_triggers(p);
          elsif p_name = 'turns' then return inkfast.guard_turns(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'vectors' then
          if p_name = 'usage' then return inkfast.guard_usage(p);
          elsif p_name = 'vector_collections' then return inkfast.guard_vector_collections(p);
          end if;
        else
          if p_name = 'vectors' then return inkfast.guard_vectors(p);
          elsif p_name = 'work' then return inkfast.guard_work(p);
          end if;
        end if;
      end if;
    end if;
  end if;
  raise exception 'inkfast: there is no table of rows named %', p_name using errcode = 'IF003';
end
$function$;
grant execute on function inkfast.guard_rows(text,inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_runs(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.runs t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'runs' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_runs(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_session_heads(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.session_heads t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'session_heads' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_session_heads(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_sessions(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.sessions t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'sessions' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_sessions(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_signals(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.signals t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'signals' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_signals(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_snapshots(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.snapshots t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'snapshots' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_snapshots(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_sources(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.sources t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'sources' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_sources(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_state(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.state t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'state' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_state(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_threads(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.threads t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'threads' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_threads(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_triggers(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.triggers t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'triggers' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_triggers(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_turns(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.turns t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'turns' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_turns(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_usage(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.usage t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'usage' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_usage(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_vector_collections(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.vector_collections t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'vector_collections' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_vector_collections(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_vectors(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, case when g.fence then 0 else coalesce(r.revision, 0) end])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision from inkfast.vectors t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'vectors' and case when g.fence then 0 else coalesce(r.revision, 0) end <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_vectors(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.guard_work(p inkfast.guard_list)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
begin
  return (
    select array_agg(array[g.n, coalesce(case when g.fence then r.fence else r.revision end, 0)])
    from unnest(p.names, p.ids, p.wants, p.fences) with ordinality as g (name, id, wanted, fence, n)
    left join lateral (
      select t.revision, t.fence from inkfast.work t
      where t.tenant = p.tenant and t.id between g.id and g.id order by t.id limit 1
    ) r on true
    where g.name = 'work' and coalesce(case when g.fence then r.fence else r.revision end, 0) <> g.wanted);
end
$function$;
grant execute on function inkfast.guard_work(inkfast.guard_list) to inkfast_app;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.heads_resume()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform inkfast.make_due(new.tenant);
  return null;
end
$function$;
grant execute on function inkfast.heads_resume() to inkfast_owner;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.heads_v1(p_tenants text[])
 RETURNS TABLE(tenant text, seq bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if inkfast.tenant() is distinct from '*' then
    raise exception 'inkfast: only the store itself may look at the heads of its tenants' using errcode = 'IF002';
  end if;
  return query select h.tenant::text, h.seq from inkfast.heads h where h.tenant = any (p_tenants);
end
$function$;
grant execute on function inkfast.heads_v1(text[]) to inkfast_app;
grant execute on function inkfast.heads_v1(text[]) to inkfast_reader;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.is_signed(p_text text, p_mac text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select exists (
    select from inkfast.wall_keys where p_mac = encode(sha256(outer_pad || sha256(inner_pad || convert_to(p_text, 'UTF8'))), 'hex'))
$function$;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.join_v1()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if coalesce(inkfast.tenant(), '*') = '*' then
    raise exception 'inkfast: the tenant is not signed with a key of this store' using errcode = 'IF002';
  end if;
  insert into inkfast.heads (tenant, seq, hash) values (inkfast.tenant(), 0, decode(repeat('00', 32), 'hex')) on conflict (tenant) do nothing;
end
$function$;
grant execute on function inkfast.join_v1() to inkfast_app;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.lower_due(p_tenant text, p_queue text, p_at bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if p_at < coalesce((
    select d.at from inkfast.due d where d.tenant between p_tenant and p_tenant and d.queue between p_queue and p_queue
    order by d.tenant, d.queue limit 1), 9223372036854775807) then
    insert into inkfast.due as d (tenant, queue, at) values (p_tenant, p_queue, p_at)
    on conflict (tenant, queue) do update set at = excluded.at where d.at > excluded.at;
  end if;
end
$function$;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.make_due(p_tenant text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.due d where d.tenant between p_tenant and p_tenant;
  insert into inkfast.due (tenant, queue, at)
  select p_tenant, w.queue, min(w.at) from inkfast.work w
  where w.tenant = p_tenant and w.queue is not null and w.at is not null group by w.queue;
end
$function$;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.make_due_v1()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if coalesce(inkfast.tenant(), '*') = '*' then
    raise exception 'inkfast: the tenant is not signed with a key of this store' using errcode = 'IF002';
  end if;
  update inkfast.heads h set seq = h.seq where h.tenant between inkfast.tenant() and inkfast.tenant();
  perform inkfast.make_due(inkfast.tenant());
end
$function$;
grant execute on function inkfast.make_due_v1() to inkfast_app;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.misplaced_v1(p_after text, p_limit integer)
 RETURNS TABLE(tenant text, head bigint, events bigint, last bigint)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_tenant text := p_after;
begin
  if inkfast.tenant() is distinct from '*' then
    raise exception 'inkfast: only the store itself may look for misplaced events' using errcode = 'IF002';
  end if;
  for v_n in 1..p_limit loop
    v_tenant := least(
      (select h.tenant from inkfast.heads h where h.tenant > v_tenant order by h.tenant limit 1),
      (select e.tenant from inkfast.events e where e.tenant > v_tenant order by e.tenant, e.seq limit 1));
    exit when v_tenant is null;
    return query
      select v_tenant, coalesce((select h.seq from inkfast.heads h where h.tenant = v_tenant), 0), count(*), coalesce(max(e.seq), 0)
      from inkfast.events e where e.tenant = v_tenant;
  end loop;
end
$function$;
grant execute on function inkfast.misplaced_v1(text,integer) to inkfast_app;
grant execute on function inkfast.misplaced_v1(text,integer) to inkfast_reader;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.move_head_v1(p_tenant text, p_from bigint, p_hash bytea, p_to bigint, p_new bytea)
 RETURNS text
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    update inkfast.heads h set seq = p_to, hash = p_new
    where h.tenant between p_tenant and p_tenant and h.seq = p_from and h.hash = p_hash and h.state = 'active' and p_to > p_from returning p_tenant$function$;
grant execute on function inkfast.move_head_v1(text,bigint,bytea,bigint,bytea) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.now_v1()
 RETURNS bigint
 LANGUAGE sql
BEGIN ATOMIC
 SELECT ((floor((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric)))::bigint + c.offset_ms)
    FROM inkfast.clock c
   WHERE c.id;
END;
grant execute on function inkfast.now_v1() to inkfast_app;
grant execute on function inkfast.now_v1() to inkfast_reader;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_approvals(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.approvals as t (tenant, id, born, revision, state, run, expires, subject, digest, key, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2)::bigint, (r.columns::json ->> 3), (r.columns::json ->> 4), (r.columns::json ->> 5), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'approvals' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, state = excluded.state, run = excluded.run, expires = excluded.expires, subject = excluded.subject, digest = excluded.digest, key = excluded.key, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_approvals(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_artifacts(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.artifacts as t (tenant, id, born, revision, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'artifacts' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_artifacts(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_attachments(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.attachments as t (tenant, id, born, revision, session, state, content, at, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), (r.columns::json ->> 3)::bigint, convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'attachments' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, state = excluded.state, content = excluded.content, at = excluded.at, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_attachments(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_canvas_snapshots(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.canvas_snapshots as t (tenant, id, born, revision, session, canvas, version, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2)::bigint, convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'canvas_snapshots' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, canvas = excluded.canvas, version = excluded.version, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_canvas_snapshots(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_canvases(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.canvases as t (tenant, id, born, revision, session, name, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'canvases' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, name = excluded.name, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_canvases(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_content(p inkfast.content_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  v_node bigint;
  v_blob text;
begin
  if p.node_refs is not null then
    -- Ids grow within the tenant, also after a collection has removed its newest nodes.
    v_node := greatest(
      (select t.id from inkfast.nodes t where t.tenant = p.tenant order by t.id desc limit 1),
      (select t.top from inkfast.collections t where t.tenant between p.tenant and p.tenant limit 1), 0);
    insert into inkfast.nodes (tenant, id, ref, at, body)
    select p.tenant, v_node + d.n, substring(p.node_refs from d.n::integer * 32 - 31 for 32), p.now, substring(p.node_bodies from d.body_from for d.body_size)
    from unnest(p.node_from, p.node_size, p.node_commits) with ordinality as d (body_from, body_size, commit, n)
    where p.outs[d.commit] is not true
    on conflict (tenant, ref) do nothing;
  end if;
  if p.ref_names is not null then
    insert into inkfast.refs (tenant, seq, ref)
    select p.tenant, r.seq, r.name from unnest(p.ref_seqs, p.ref_names) as r (seq, name) where r.seq is not null
    on conflict (tenant, seq, ref) do nothing;
  end if;

  -- Nodes that are named or written again are noted: while a collection is under way, or long after they were written.
  insert into inkfast.named_nodes as t (tenant, ref, at, number)
  select distinct on (r.ref) p.tenant, r.ref, p.now, case when c.active = 1 then c.number else 0 end
  from (
    select decode(g.id, 'hex') as ref from unnest(p.named) as g (id) where not g.id like 'blob:%'
    union all
    select substring(p.node_refs from d.n::integer * 32 - 31 for 32) from unnest(p.node_from, p.node_commits) with ordinality as d (body_from, commit, n) where p.outs[d.commit] is not true
  ) r
  cross join lateral (
    select t.id, t.at from inkfast.nodes t where t.tenant = p.tenant and t.ref between r.ref and r.ref order by t.ref limit 1
  ) e
  left join lateral (
    select t.at, t.number from inkfast.named_nodes t where t.tenant = p.tenant and t.ref between r.ref and r.ref order by t.ref limit 1
  ) m on true
  left join lateral (select t.number, t.top, t.active from inkfast.collections t where t.tenant between p.tenant and p.tenant limit 1) c on true
  where case when c.active = 1 and e.id <= c.top then m.number is distinct from c.number
    else p.now - greatest(e.at, m.at) > 3600000 end
  on conflict (tenant, ref) do update set at = excluded.at, number = excluded.number;

  -- Blobs that are named: a condemned one is present again, and a collection that is under way keeps it.
  for v_blob in
    select substring(g.id from 6) from unnest(p.named) as g (id) where g.id like 'blob:%'
    union
    select substring(r.name from 6) from unnest(p.ref_seqs, p.ref_names) as r (seq, name) where r.seq is not null and r.name like 'blob:%'
  loop
    update inkfast.blobs t set state = 'present', at = p.now, number = coalesce(c.number, t.number)
    from (select (select s.number from inkfast.collections s where s.tenant = p.tenant and s.active = 1) as number) c
    where t.tenant = p.tenant and t.digest = v_blob and t.state <> 'deleting'
      and (t.state <> 'present' or t.number <> coalesce(c.number, t.number) or p.now - t.at > 3600000);
  end loop;
  return true;
end
$function$;
grant execute on function inkfast.put_content(inkfast.content_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_core(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.core as t (tenant, id, born, revision, owner, session, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'core' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, owner = excluded.owner, session = excluded.session, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_core(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_deliveries(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.deliveries as t (tenant, id, born, revision, firing, trigger_id, state, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'deliveries' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, firing = excluded.firing, trigger_id = excluded.trigger_id, state = excluded.state, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_deliveries(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_firings(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.firings as t (tenant, id, born, revision, source, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'firings' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, source = excluded.source, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_firings(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_grants(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.grants as t (tenant, id, born, revision, session, process, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'grants' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, process = excluded.process, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_grants(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_graph_nodes(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.graph_nodes as t (tenant, id, born, revision, session, state, parent, frame, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), (r.columns::json ->> 3), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'graph_nodes' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, state = excluded.state, parent = excluded.parent, frame = excluded.frame, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_graph_nodes(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_inbox(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.inbox as t (tenant, id, born, revision, session, state, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'inbox' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, state = excluded.state, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_inbox(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_inputs(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.inputs as t (tenant, id, born, revision, session, state, run, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'inputs' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, state = excluded.state, run = excluded.run, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_inputs(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_jobs(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.jobs as t (tenant, id, born, revision, state, queue, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'jobs' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, state = excluded.state, queue = excluded.queue, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_jobs(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_leases(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.leases as t (tenant, id, born, revision, fence, owner, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), case when p.partly then p.seqs[r.fence] else p.base + nullif(r.fence, 0) end, (r.columns::json ->> 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'leases' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, owner = excluded.owner, body = excluded.body, fence = coalesce(excluded.fence, t.fence);
  return true;
end
$function$;
grant execute on function inkfast.put_leases(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_memory(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.memory as t (tenant, id, born, revision, about, state, at, thread, expires, starts, ends, terms, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2)::bigint, (r.columns::json ->> 3), (r.columns::json ->> 4)::bigint, (r.columns::json ->> 5)::bigint, (r.columns::json ->> 6)::bigint, (r.columns::json ->> 7), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'memory' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, about = excluded.about, state = excluded.state, at = excluded.at, thread = excluded.thread, expires = excluded.expires, starts = excluded.starts, ends = excluded.ends, terms = excluded.terms, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_memory(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_messages(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.messages as t (tenant, id, born, revision, session, thread, execution, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'messages' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, thread = excluded.thread, execution = excluded.execution, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_messages(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_names(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.names as t (tenant, id, born, revision, target, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'names' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, target = excluded.target, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_names(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_occurrences(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.occurrences as t (tenant, id, born, revision, job, state, due, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2)::bigint, convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'occurrences' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, job = excluded.job, state = excluded.state, due = excluded.due, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_occurrences(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_permits(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.permits as t (tenant, id, born, revision, digest, session, state, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'permits' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, digest = excluded.digest, session = excluded.session, state = excluded.state, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_permits(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_pins(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.pins as t (tenant, id, born, revision, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'pins' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_pins(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_process_events(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.process_events as t (tenant, id, born, revision, process, number, type, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1)::bigint, (r.columns::json ->> 2), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'process_events' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, process = excluded.process, number = excluded.number, type = excluded.type, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_process_events(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_processes(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.processes as t (tenant, id, born, revision, state, kind, wake, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'processes' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, state = excluded.state, kind = excluded.kind, wake = excluded.wake, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_processes(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_rows(p_name text, p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if p_name collate "C" < 'permits' then
    if p_name collate "C" < 'graph_nodes' then
      if p_name collate "C" < 'core' then
        if p_name collate "C" < 'canvas_snapshots' then
          if p_name = 'approvals' then return inkfast.put_approvals(p);
          elsif p_name = 'artifacts' then return inkfast.put_artifacts(p);
          elsif p_name = 'attachments' then return inkfast.put_attachments(p);
          end if;
        else
          if p_name = 'canvas_snapshots' then return inkfast.put_canvas_snapshots(p);
          elsif p_name = 'canvases' then return inkfast.put_canvases(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'firings' then
          if p_name = 'core' then return inkfast.put_core(p);
          elsif p_name = 'deliveries' then return inkfast.put_deliveries(p);
          end if;
        else
          if p_name = 'firings' then return inkfast.put_firings(p);
          elsif p_name = 'grants' then return inkfast.put_grants(p);
          end if;
        end if;
      end if;
    else
      if p_name collate "C" < 'memory' then
        if p_name collate "C" < 'jobs' then
          if p_name = 'graph_nodes' then return inkfast.put_graph_nodes(p);
          elsif p_name = 'inbox' then return inkfast.put_inbox(p);
          elsif p_name = 'inputs' then return inkfast.put_inputs(p);
          end if;
        else
          if p_name = 'jobs' then return inkfast.put_jobs(p);
          elsif p_name = 'leases' then return inkfast.put_leases(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'names' then
          if p_name = 'memory' then return inkfast.put_memory(p);
          elsif p_name = 'messages' then return inkfast.put_messages(p);
          end if;
        else
          if p_name = 'names' then return inkfast.put_names(p);
          elsif p_name = 'occurrences' then return inkfast.put_occurrences(p);
          end if;
        end if;
      end if;
    end if;
  else
    if p_name collate "C" < 'sources' then
      if p_name collate "C" < 'session_heads' then
        if p_name collate "C" < 'processes' then
          if p_name = 'permits' then return inkfast.put_permits(p);
          elsif p_name = 'pins' then return inkfast.put_pins(p);
          elsif p_name = 'process_events' then return inkfast.put_process_events(p);
          end if;
        else
          if p_name = 'processes' then return inkfast.put_processes(p);
          elsif p_name = 'runs' then return inkfast.put_runs(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'signals' then
          if p_name = 'session_heads' then return inkfast.put_session_heads(p);
          elsif p_name = 'sessions' then return inkfast.put_sessions(p);
          end if;
        else
          if p_name = 'signals' then return inkfast.put_signals(p);
          elsif p_name = 'snapshots' then return inkfast.put_snapshots(p);
          end if;
        end if;
      end if;
    else
      if p_name collate "C" < 'usage' then
        if p_name collate "C" < 'triggers' then
          if p_name = 'sources' then return inkfast.put_sources(p);
          elsif p_name = 'state' then return inkfast.put_state(p);
          elsif p_name = 'threads' then return inkfast.put_threads(p);
          end if;
        else
          if p_name = 'triggers' then return inkfast.put_triggers(p);
          elsif p_name = 'turns' then return inkfast.put_turns(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'vectors' then
          if p_name = 'usage' then return inkfast.put_usage(p);
          elsif p_name = 'vector_collections' then return inkfast.put_vector_collections(p);
          end if;
        else
          if p_name = 'vectors' then return inkfast.put_vectors(p);
          elsif p_name = 'work' then return inkfast.put_work(p);
          end if;
        end if;
      end if;
    end if;
  end if;
  raise exception 'inkfast: there is no table of rows named %', p_name using errcode = 'IF003';
end
$function$;
grant execute on function inkfast.put_rows(text,inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_runs(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.runs as t (tenant, id, born, revision, state, session, name, parent, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), (r.columns::json ->> 3), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'runs' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, state = excluded.state, session = excluded.session, name = excluded.name, parent = excluded.parent, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_runs(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_session_heads(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.session_heads as t (tenant, id, born, revision, session, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'session_heads' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_session_heads(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_sessions(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.sessions as t (tenant, id, born, revision, state, owner, branch, relation, parent, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), (r.columns::json ->> 3), (r.columns::json ->> 4), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'sessions' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, state = excluded.state, owner = excluded.owner, branch = excluded.branch, relation = excluded.relation, parent = excluded.parent, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_sessions(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_signals(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.signals as t (tenant, id, born, revision, session, name, state, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'signals' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, name = excluded.name, state = excluded.state, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_signals(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_snapshots(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.snapshots as t (tenant, id, born, revision, session, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'snapshots' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_snapshots(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_sources(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.sources as t (tenant, id, born, revision, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'sources' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_sources(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_state(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.state as t (tenant, id, born, revision, session, key, expires, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2)::bigint, convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'state' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, key = excluded.key, expires = excluded.expires, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_state(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_threads(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.threads as t (tenant, id, born, revision, session, owner, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'threads' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, owner = excluded.owner, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_threads(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_triggers(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.triggers as t (tenant, id, born, revision, source, state, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'triggers' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, source = excluded.source, state = excluded.state, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_triggers(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_turns(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.turns as t (tenant, id, born, revision, session, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'turns' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_turns(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_usage(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.usage as t (tenant, id, born, revision, session, hour, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1)::bigint, convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'usage' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, session = excluded.session, hour = excluded.hour, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_usage(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_vector_collections(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.vector_collections as t (tenant, id, born, revision, state, name, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), (r.columns::json ->> 1), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'vector_collections' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, state = excluded.state, name = excluded.name, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_vector_collections(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_vectors(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.vectors as t (tenant, id, born, revision, collection, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), (r.columns::json ->> 0), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'vectors' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, collection = excluded.collection, body = excluded.body;
  return true;
end
$function$;
grant execute on function inkfast.put_vectors(inkfast.put_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.put_work(p inkfast.put_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  insert into inkfast.work as t (tenant, id, born, revision, fence, queue, state, priority, at, series, body)
  select p.tenant, r.id, coalesce(case when p.partly then p.seqs[r.born] else p.base + nullif(r.born, 0) end, 0), coalesce(case when p.partly then p.seqs[r.revision] else p.base + nullif(r.revision, 0) end, 0), case when p.partly then p.seqs[r.fence] else p.base + nullif(r.fence, 0) end, (r.columns::json ->> 0), (r.columns::json ->> 1), (r.columns::json ->> 2)::bigint, (r.columns::json ->> 3)::bigint, (r.columns::json ->> 4), convert_from(substring(p.bodies from r.body_from for r.body_size), 'UTF8')
  from unnest(p.names, p.ids, p.commits, p.borns, p.revisions, p.fences, p.columns, p.starts, p.sizes)
    as r (name, id, commit, born, revision, fence, columns, body_from, body_size)
  where r.name = 'work' and not p.outs[r.commit]
  on conflict (tenant, id) do update set revision = excluded.revision, queue = excluded.queue, state = excluded.state, priority = excluded.priority, at = excluded.at, series = excluded.series, body = excluded.body, fence = coalesce(excluded.fence, t.fence);
  return true;
end
$function$;
grant execute on function inkfast.put_work(inkfast.put_list) to inkfast_app;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.raise_due_v1(p_queue text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_tenant text := inkfast.tenant();
  v_state  text;
  v_at     bigint;
begin
  if coalesce(v_tenant, '*') = '*' then
    raise exception 'inkfast: the tenant is not signed with a key of this store' using errcode = 'IF002';
  end if;
  v_state := (
    select h.state from inkfast.heads h where h.tenant between v_tenant and v_tenant order by h.tenant limit 1 for no key update skip locked);
  if v_state is null then
    return;
  end if;
  update inkfast.heads h set seq = h.seq where h.tenant between v_tenant and v_tenant;
  if v_state = 'active' then
    v_at := (
      select w.at from inkfast.work w where w.tenant = v_tenant and w.queue = p_queue and w.at is not null order by w.at nulls first limit 1);
  end if;
  if v_at is null then
    delete from inkfast.due d where d.tenant between v_tenant and v_tenant and d.queue = p_queue;
  else
    update inkfast.due d set at = v_at where d.tenant between v_tenant and v_tenant and d.queue = p_queue and d.at <> v_at;
  end if;
end
$function$;
grant execute on function inkfast.raise_due_v1(text) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_approvals(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.approvals t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.approvals s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'approvals' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_approvals(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_artifacts(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.artifacts t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.artifacts s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'artifacts' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_artifacts(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_attachments(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.attachments t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.attachments s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'attachments' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_attachments(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_canvas_snapshots(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.canvas_snapshots t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.canvas_snapshots s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'canvas_snapshots' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_canvas_snapshots(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_canvases(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.canvases t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.canvases s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'canvases' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_canvases(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_core(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.core t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.core s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'core' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_core(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_deliveries(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.deliveries t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.deliveries s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'deliveries' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_deliveries(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_firings(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.firings t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.firings s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'firings' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_firings(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_grants(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.grants t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.grants s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'grants' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_grants(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_graph_nodes(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.graph_nodes t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.graph_nodes s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'graph_nodes' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_graph_nodes(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_inbox(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.inbox t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.inbox s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'inbox' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_inbox(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_inputs(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.inputs t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.inputs s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'inputs' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_inputs(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_jobs(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.jobs t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.jobs s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'jobs' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_jobs(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_leases(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.leases t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.leases s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'leases' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_leases(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_memory(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.memory t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.memory s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'memory' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_memory(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_messages(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.messages t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.messages s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'messages' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_messages(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_names(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.names t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.names s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'names' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_names(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_occurrences(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.occurrences t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.occurrences s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'occurrences' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_occurrences(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_permits(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.permits t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.permits s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'permits' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_permits(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_pins(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.pins t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.pins s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'pins' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_pins(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_process_events(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.process_events t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.process_events s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'process_events' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_process_events(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_processes(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.processes t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.processes s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'processes' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_processes(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_rows(p_name text, p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if p_name collate "C" < 'permits' then
    if p_name collate "C" < 'graph_nodes' then
      if p_name collate "C" < 'core' then
        if p_name collate "C" < 'canvas_snapshots' then
          if p_name = 'approvals' then return inkfast.remove_approvals(p);
          elsif p_name = 'artifacts' then return inkfast.remove_artifacts(p);
          elsif p_name = 'attachments' then return inkfast.remove_attachments(p);
          end if;
        else
          if p_name = 'canvas_snapshots' then return inkfast.remove_canvas_snapshots(p);
          elsif p_name = 'canvases' then return inkfast.remove_canvases(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'firings' then
          if p_name = 'core' then return inkfast.remove_core(p);
          elsif p_name = 'deliveries' then return inkfast.remove_deliveries(p);
          end if;
        else
          if p_name = 'firings' then return inkfast.remove_firings(p);
          elsif p_name = 'grants' then return inkfast.remove_grants(p);
          end if;
        end if;
      end if;
    else
      if p_name collate "C" < 'memory' then
        if p_name collate "C" < 'jobs' then
          if p_name = 'graph_nodes' then return inkfast.remove_graph_nodes(p);
          elsif p_name = 'inbox' then return inkfast.remove_inbox(p);
          elsif p_name = 'inputs' then return inkfast.remove_inputs(p);
          end if;
        else
          if p_name = 'jobs' then return inkfast.remove_jobs(p);
          elsif p_name = 'leases' then return inkfast.remove_leases(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'names' then
          if p_name = 'memory' then return inkfast.remove_memory(p);
          elsif p_name = 'messages' then return inkfast.remove_messages(p);
          end if;
        else
          if p_name = 'names' then return inkfast.remove_names(p);
          elsif p_name = 'occurrences' then return inkfast.remove_occurrences(p);
          end if;
        end if;
      end if;
    end if;
  else
    if p_name collate "C" < 'sources' then
      if p_name collate "C" < 'session_heads' then
        if p_name collate "C" < 'processes' then
          if p_name = 'permits' then return inkfast.remove_permits(p);
          elsif p_name = 'pins' then return inkfast.remove_pins(p);
          elsif p_name = 'process_events' then return inkfast.remove_process_events(p);
          end if;
        else
          if p_name = 'processes' then return inkfast.remove_processes(p);
          elsif p_name = 'runs' then return inkfast.remove_runs(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'signals' then
          if p_name = 'session_heads' then return inkfast.remove_session_heads(p);
          elsif p_name = 'sessions' then return inkfast.remove_sessions(p);
          end if;
        else
          if p_name = 'signals' then return inkfast.remove_signals(p);
          elsif p_name = 'snapshots' then return inkfast.remove_snapshots(p);
          end if;
        end if;
      end if;
    else
      if p_name collate "C" < 'usage' then
        if p_name collate "C" < 'triggers' then
          if p_name = 'sources' then return inkfast.remove_sources(p);
          elsif p_name = 'state' then return inkfast.remove_state(p);
          elsif p_name = 'threads' then return inkfast.remove_threads(p);
          end if;
        else
          if p_name = 'triggers' then return inkfast.remove_triggers(p);
          elsif p_name = 'turns' then return inkfast.remove_turns(p);
          end if;
        end if;
      else
        if p_name collate "C" < 'vectors' then
          if p_name = 'usage' then return inkfast.remove_usage(p);
          elsif p_name = 'vector_collections' then return inkfast.remove_vector_collections(p);
          end if;
        else
          if p_name = 'vectors' then return inkfast.remove_vectors(p);
          elsif p_name = 'work' then return inkfast.remove_work(p);
          end if;
        end if;
      end if;
    end if;
  end if;
  raise exception 'inkfast: there is no table of rows named %', p_name using errcode = 'IF003';
end
$function$;
grant execute on function inkfast.remove_rows(text,inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_runs(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.runs t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.runs s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'runs' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_runs(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_session_heads(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.session_heads t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.session_heads s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'session_heads' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_session_heads(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_sessions(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.sessions t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.sessions s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'sessions' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_sessions(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_signals(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.signals t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.signals s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'signals' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_signals(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_snapshots(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.snapshots t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.snapshots s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'snapshots' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_snapshots(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_sources(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.sources t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.sources s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'sources' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_sources(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_state(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.state t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.state s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'state' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_state(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_threads(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.threads t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.threads s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'threads' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_threads(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_triggers(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.triggers t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.triggers s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'triggers' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_triggers(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_turns(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.turns t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.turns s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'turns' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_turns(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_usage(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.usage t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.usage s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'usage' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_usage(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_vector_collections(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.vector_collections t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.vector_collections s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'vector_collections' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_vector_collections(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_vectors(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.vectors t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.vectors s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'vectors' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_vectors(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.remove_work(p inkfast.remove_list)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  delete from inkfast.work t
  using (
    select x.ctid as place from unnest(p.names, p.ids, p.commits) as r (name, id, commit)
    cross join lateral (
      select s.ctid from inkfast.work s where s.tenant = p.tenant and s.id between r.id and r.id order by s.id limit 1
    ) x
    where r.name = 'work' and not p.outs[r.commit]
  ) r
  where t.ctid = r.place;
  return true;
end
$function$;
grant execute on function inkfast.remove_work(inkfast.remove_list) to inkfast_app;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.tenant()
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select rtrim(left(current_setting('inkfast.tenant', true), -65), '!') from inkfast.wall_keys
    where id > '' and right(current_setting('inkfast.tenant', true), 64) = encode(sha256(outer_pad || sha256(inner_pad
      || convert_to('inkfast/1/tenant:' || left(current_setting('inkfast.tenant', true), -65), 'UTF8'))), 'hex')
    order by id limit 1$function$;
grant execute on function inkfast.tenant() to inkfast_app;
grant execute on function inkfast.tenant() to inkfast_owner;
grant execute on function inkfast.tenant() to inkfast_reader;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.tenants_v1(p_after text, p_limit integer)
 RETURNS SETOF text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if inkfast.tenant() is distinct from '*' then
    raise exception 'inkfast: only the store itself may list its tenants' using errcode = 'IF002';
  end if;
  return query select h.tenant::text from inkfast.heads h where h.tenant > p_after and h.seq > 0 order by h.tenant limit p_limit;
end
$function$;
grant execute on function inkfast.tenants_v1(text,integer) to inkfast_app;
grant execute on function inkfast.tenants_v1(text,integer) to inkfast_reader;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.words_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_hashjoin TO 'on'
AS $function$
declare
  v_tenant text := (
    select o.tenant from gone o join came n on n.id = o.id where n.terms is distinct from o.terms limit 1);
  v_last   bigint;
  v_places tid[];
  v_count  bigint;
begin
  if v_tenant is null then
    return null;
  end if;
  with one as materialized (
    select o.born, x.t as words, coalesce((
      select a.id from inkfast.terms a where a.tenant = v_tenant and a.source = tg_table_name and a.term between x.a and x.a
      order by a.tenant, a.source, a.term limit 1), 0) as about
    from gone o join came n on n.id = o.id and n.terms is distinct from o.terms
    cross join lateral json_to_record(o.terms::json) x (a text, t json) where o.terms like '{%'
  ), w as materialized (
    select o.born, o.about, e.value ->> 0 as term from one o cross join lateral json_array_elements(o.words) e (value)
  )
  select array_agg(q.place) into v_places from w
  cross join lateral (
    select b.id from inkfast.terms b where b.tenant = v_tenant and b.source = tg_table_name and b.term between w.term and w.term
    order by b.tenant, b.source, b.term limit 1) t
  cross join lateral (
    select q.ctid as place from inkfast.postings q
    where q.tenant = v_tenant and q.term between t.id and t.id and q.about between w.about and w.about and q.doc between w.born and w.born
    order by q.tenant, q.term, q.about, q.doc limit 1) q;
  execute 'delete from inkfast.postings where ctid = any ($1)' using v_places;
  for v_places, v_count in
    with w as materialized (
      select e.value ->> 0 as term, count(*) as n from gone o join came n on n.id = o.id and n.terms is distinct from o.terms
      cross join lateral json_array_elements((o.terms::json) -> 't') e (value)
      where o.terms like '{%' group by 1
    )
    select array_agg(t.place), w.n from w
    cross join lateral (
      select b.ctid as place from inkfast.terms b where b.tenant = v_tenant and b.source = tg_table_name and b.term between w.term and w.term
      order by b.tenant, b.source, b.term limit 1) t
    group by w.n
  loop
    execute 'update inkfast.terms set df = df - $2 where ctid = any ($1)' using v_places, v_count;
  end loop;
  v_last := coalesce((select t.id from inkfast.terms t where t.tenant = v_tenant order by t.id desc limit 1), 0);
  insert into inkfast.terms as t (tenant, id, source, term, df)
  select v_tenant, v_last + row_number() over (order by w.term collate "C"), tg_table_name, w.term, w.n from (
    select e.value ->> 0 as term, count(*) as n from came n join gone o on n.id = o.id and n.terms is distinct from o.terms
    cross join lateral json_array_elements((n.terms::json) -> 't') e (value)
    where n.terms like '{%' group by 1
  ) w
  on conflict (tenant, source, term) do update set df = t.df + excluded.df;
  with w as materialized (
    select distinct e.value ->> 0 as term from gone o cross join lateral json_array_elements((o.terms::json) -> 't') e (value)
    where o.terms like '{%'
  )
  select array_agg(t.place) into v_places from w
  cross join lateral (
    select b.ctid as place, b.df from inkfast.terms b where b.tenant = v_tenant and b.source = tg_table_name and b.term between w.term and w.term
    order by b.tenant, b.source, b.term limit 1) t
  where t.df <= 0;
  execute 'delete from inkfast.terms where ctid = any ($1)' using v_places;
  with one as materialized (
    select n.born, x.l as len, x.t as words, coalesce((
      select a.id from inkfast.terms a where a.tenant = v_tenant and a.source = tg_table_name and a.term between x.a and x.a
      order by a.tenant, a.source, a.term limit 1), 0) as about
    from came n join gone o on n.id = o.id and n.terms is distinct from o.terms
    cross join lateral json_to_record(n.terms::json) x (l bigint, a text, t json) where n.terms like '{%'
  ), w as materialized (
    select o.born, o.len, o.about, e.value ->> 0 as term, (e.value ->> 1)::bigint as tf, (e.value ->> 2)::bigint as tf_tags,
      (e.value ->> 3)::bigint as tf_source
    from one o cross join lateral json_array_elements(o.words) e (value)
  )
  insert into inkfast.postings (tenant, term, about, doc, tf, tf_tags, tf_source, len)
  select v_tenant, t.id, w.about, w.born, w.tf, w.tf_tags, w.tf_source, w.len
  from w
  cross join lateral (
    select b.id from inkfast.terms b where b.tenant = v_tenant and b.source = tg_table_name and b.term between w.term and w.term
    order by b.tenant, b.source, b.term limit 1) t;
  insert into inkfast.corpora as c (tenant, source, docs, total)
  select v_tenant, tg_table_name, coalesce(sum(w.docs), 0), coalesce(sum(w.total), 0) from (
    select 1 as docs, ((n.terms::json) ->> 'l')::bigint as total from came n join gone o on n.id = o.id and n.terms is distinct from o.terms
    where n.terms like '{%'
    union all
    select -1, -((o.terms::json) ->> 'l')::bigint from gone o join came n on n.id = o.id and n.terms is distinct from o.terms
    where o.terms like '{%'
  ) w
  on conflict (tenant, source) do update set docs = c.docs + excluded.docs, total = c.total + excluded.total;
  return null;
end
$function$;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.words_come()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_hashjoin TO 'on'
AS $function$
declare
  v_tenant text := (select n.tenant from came n where n.terms like '{%' limit 1);
  v_last   bigint;
begin
  if v_tenant is null then
    return null;
  end if;
  v_last := coalesce((select t.id from inkfast.terms t where t.tenant = v_tenant order by t.id desc limit 1), 0);
  -- Ids come from the statement that counts the words: a lookup would walk all versions of a common word once more.
  with known (id, term) as (
    insert into inkfast.terms as t (tenant, id, source, term, df)
    select v_tenant, v_last + row_number() over (order by w.term collate "C"), tg_table_name, w.term, w.n from (
      select e.value ->> 0 as term, count(*) as n from came n cross join lateral json_array_elements((n.terms::json) -> 't') e (value)
      where n.terms like '{%' group by 1
    ) w
    on conflict (tenant, source, term) do update set df = t.df + excluded.df
    returning t.id, t.term
  ), w as materialized (
    select n.born, x.l as len, x.a as about, e.value ->> 0 as term, (e.value ->> 1)::bigint as tf, (e.value ->> 2)::bigint as tf_tags,
      (e.value ->> 3)::bigint as tf_source
    from came n cross join lateral json_to_record(n.terms::json) x (l bigint, a text, t json)
    cross join lateral json_array_elements(x.t) e (value)
    where n.terms like '{%'
  )
  insert into inkfast.postings (tenant, term, about, doc, tf, tf_tags, tf_source, len)
  select v_tenant, t.id, coalesce(a.id, 0), w.born, w.tf, w.tf_tags, w.tf_source, w.len
  from w join known t on t.term = w.term left join known a on a.term = w.about;
  insert into inkfast.corpora as c (tenant, source, docs, total)
  select v_tenant, tg_table_name, count(*), sum(((n.terms::json) ->> 'l')::bigint) from came n where n.terms like '{%'
  on conflict (tenant, source) do update set docs = c.docs + excluded.docs, total = c.total + excluded.total;
  return null;
end
$function$;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.words_go()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_tenant text := (select o.tenant from gone o where o.terms like '{%' limit 1);
  v_places tid[];
  v_count  bigint;
begin
  if v_tenant is null then
    return null;
  end if;
  with one as materialized (
    select o.born, x.t as words, coalesce((
      select a.id from inkfast.terms a where a.tenant = v_tenant and a.source = tg_table_name and a.term between x.a and x.a
      order by a.tenant, a.source, a.term limit 1), 0) as about
    from gone o cross join lateral json_to_record(o.terms::json) x (a text, t json) where o.terms like '{%'
  ), w as materialized (
    select o.born, o.about, e.value ->> 0 as term from one o cross join lateral json_array_elements(o.words) e (value)
  )
  select array_agg(q.place) into v_places from w
  cross join lateral (
    select b.id from inkfast.terms b where b.tenant = v_tenant and b.source = tg_table_name and b.term between w.term and w.term
    order by b.tenant, b.source, b.term limit 1) t
  cross join lateral (
    select q.ctid as place from inkfast.postings q
    where q.tenant = v_tenant and q.term between t.id and t.id and q.about between w.about and w.about and q.doc between w.born and w.born
    order by q.tenant, q.term, q.about, q.doc limit 1) q;
  execute 'delete from inkfast.postings where ctid = any ($1)' using v_places;
  for v_places, v_count in
    with w as materialized (
      select e.value ->> 0 as term, count(*) as n from gone o cross join lateral json_array_elements((o.terms::json) -> 't') e (value)
      where o.terms like '{%' group by 1
    )
    select array_agg(t.place), w.n from w
    cross join lateral (
      select b.ctid as place from inkfast.terms b where b.tenant = v_tenant and b.source = tg_table_name and b.term between w.term and w.term
      order by b.tenant, b.source, b.term limit 1) t
    group by w.n
  loop
    execute 'update inkfast.terms set df = df - $2 where ctid = any ($1)' using v_places, v_count;
  end loop;
  with w as materialized (
    select distinct e.value ->> 0 as term from gone o cross join lateral json_array_elements((o.terms::json) -> 't') e (value)
    where o.terms like '{%'
  )
  select array_agg(t.place) into v_places from w
  cross join lateral (
    select b.ctid as place, b.df from inkfast.terms b where b.tenant = v_tenant and b.source = tg_table_name and b.term between w.term and w.term
    order by b.tenant, b.source, b.term limit 1) t
  where t.df <= 0;
  execute 'delete from inkfast.terms where ctid = any ($1)' using v_places;
  update inkfast.corpora c set docs = c.docs - w.n, total = c.total - w.length from (
    select count(*) as n, sum(((o.terms::json) ->> 'l')::bigint) as length from gone o where o.terms like '{%'
  ) w where c.tenant = v_tenant and c.source = tg_table_name;
  return null;
end
$function$;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.work_behind()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  new.behind := new.series is not null and new.state is distinct from 'dead' and (
    select e.id from inkfast.work e
    where e.tenant = new.tenant and e.series = new.series and e.state is distinct from 'dead' and (e.born, e.id) < (new.born, new.id)
    order by e.series desc nulls last, e.born desc, e.id desc limit 1) is not null;
  return new;
end
$function$;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.work_hastens()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform inkfast.lower_due(new.tenant, new.queue, new.at);
  return null;
end
$function$;
grant execute on function inkfast.work_hastens() to inkfast_owner;

-- owner: inkfast_wall
CREATE OR REPLACE FUNCTION inkfast.work_offers()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_first record;
begin
  for v_first in
    select c.tenant, c.queue, min(c.at) as at from came c where c.queue is not null and c.at is not null group by c.tenant, c.queue
  loop
    perform inkfast.lower_due(v_first.tenant, v_first.queue, v_first.at);
  end loop;
  return null;
end
$function$;
grant execute on function inkfast.work_offers() to inkfast_owner;

-- owner: inkfast_owner
CREATE OR REPLACE FUNCTION inkfast.work_turns()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_tenant text := case tg_argv[0] when 'old' then old.tenant else new.tenant end;
  v_series text := case tg_argv[0] when 'old' then old.series else new.series end;
  v_first  text;
begin
  -- Another item of the same statement has already flagged this one and all others.
  if tg_argv[0] = 'new' and (select s.behind from inkfast.work s where s.tenant = v_tenant and s.id between new.id and new.id order by s.id limit 1) then
    return null;
  end if;
  v_first := (
    select e.id from inkfast.work e
    where e.tenant = v_tenant and e.series = v_series and e.state is distinct from 'dead'
    order by e.series nulls first, e.born, e.id limit 1);
  update inkfast.work t set behind = true
  where t.ctid = any (array(
    select e.ctid from inkfast.work e
    where e.tenant = v_tenant and e.series = v_series and e.state is distinct from 'dead' and not e.behind and e.id <> v_first
    order by e.series nulls first, e.born, e.id));
  update inkfast.work t set behind = false
  where t.ctid = (select s.ctid from inkfast.work s where s.tenant = v_tenant and s.id between v_first and v_first and s.behind order by s.id limit 1);
  return null;
end
$function$;
