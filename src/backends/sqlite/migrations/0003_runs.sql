-- Runs, the work that is waiting for somebody, questions that hold a run, and signals that came before anybody waited for them.

create table runs (
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

create index runs_by_born on runs (tenant, born, id);
create index runs_by_state on runs (tenant, state, born, id);
create index runs_by_session on runs (tenant, session, born, id);
create index runs_by_session_and_state on runs (tenant, session, state, born, id);
create index runs_by_name on runs (tenant, name, born, id);
create index runs_by_parent on runs (tenant, parent, born, id);

create table work (
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
  primary key (tenant, id)
) strict, without rowid;

create index work_by_due on work (tenant, queue, at, id);
create index work_by_ready on work (tenant, queue, state, priority, at, born, id);
create index work_by_series on work (tenant, series, born, id);

create table approvals (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  run      text,
  expires  integer,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index approvals_by_born on approvals (tenant, born, id);
create index approvals_by_state on approvals (tenant, state, born, id);
create index approvals_by_run on approvals (tenant, run, born, id);
create index approvals_by_expiry on approvals (tenant, state, expires, id);

create table signals (
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

create index signals_by_session on signals (tenant, session, name, state, born, id);
