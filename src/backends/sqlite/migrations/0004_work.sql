-- Work and time: jobs, triggers, agent processes, turn inputs and standing approvals. The items they come down to are rows of `work`.

-- Jobs by a schedule, and every time one of them came up.
create table jobs (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  queue    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index jobs_by_born on jobs (tenant, born, id);
create index jobs_by_state on jobs (tenant, state, born, id);
create index jobs_by_queue on jobs (tenant, queue, born, id);

create table occurrences (
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

create index occurrences_by_job on occurrences (tenant, job, due, id);
create index occurrences_by_job_and_state on occurrences (tenant, job, state, due, id);

-- Who is told when something fires, what fired, and what became of each telling.
create table triggers (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  source   text,
  state    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index triggers_by_born on triggers (tenant, born, id);
create index triggers_by_state on triggers (tenant, state, born, id);
create index triggers_by_source on triggers (tenant, source, state, born, id);

-- Moves with every change of a trigger_id of its source.
create table sources (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index sources_by_born on sources (tenant, born, id);

create table firings (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  source   text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index firings_by_born on firings (tenant, born, id);
create index firings_by_source on firings (tenant, source, born, id);

create table deliveries (
  tenant       text not null,
  id           text not null,
  born         integer not null,
  revision     integer not null,
  firing       text,
  trigger_id text,
  state        text,
  body         text not null,
  primary key (tenant, id)
) strict, without rowid;

create index deliveries_by_firing on deliveries (tenant, firing, born, id);
create index deliveries_by_trigger on deliveries (tenant, trigger_id, born, id);
create index deliveries_by_state on deliveries (tenant, state, born, id);

-- Long-lived children of agents, what they said, and which sessions hold a handle on them.
create table processes (
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

create index processes_by_born on processes (tenant, born, id);
create index processes_by_state on processes (tenant, state, born, id);
create index processes_by_kind on processes (tenant, kind, born, id);
create index processes_by_wake on processes (tenant, wake, born, id);

create table process_events (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  process  text,
  number   integer,
  type     text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index process_events_by_process on process_events (tenant, process, number, id);
create index process_events_by_type on process_events (tenant, process, type, number, id);

create table grants (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  process  text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index grants_by_session on grants (tenant, session, born, id);
create index grants_by_process on grants (tenant, process, born, id);

-- What people say while an agent works, and what else a session is to take in.
create table inputs (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  state    text,
  run      text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index inputs_by_session on inputs (tenant, session, born, id);
create index inputs_by_session_and_state on inputs (tenant, session, state, born, id);
create index inputs_by_run on inputs (tenant, run, state, born, id);

create table inbox (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  session  text,
  state    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index inbox_by_session on inbox (tenant, session, born, id);
create index inbox_by_session_and_state on inbox (tenant, session, state, born, id);

-- What was approved for longer than once.
create table permits (
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

create index permits_by_born on permits (tenant, born, id);
create index permits_by_digest on permits (tenant, digest, state, born, id);
create index permits_by_session on permits (tenant, session, state, born, id);
