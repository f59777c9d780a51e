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
  behind   integer not null default 0,
  primary key (tenant, id)
) strict, without rowid;

create index work_by_due on work (tenant, queue, at, id);
create index work_by_ready on work (tenant, queue, state, priority, at, born, id);
create index work_by_series on work (tenant, series, born, id) where series is not null and state is not 'dead';
create index work_by_turn on work (tenant, queue, priority, at, born, id) where state = 'ready' and behind = 0;

-- Of a series only the oldest that is not dead can be claimed. The others are marked when they come, and the next is when its turn comes: so
-- whoever looks for work passes by none of them, however many wait. The mark is made from the rows alone and is no part of them.
create trigger work_joins after insert on work when new.series is not null and new.state is not 'dead'
begin
  update work set behind = 1
  where tenant = new.tenant and id = new.id and behind = 0 and id <> (
    select e.id from work as e indexed by work_by_series where e.tenant = new.tenant and e.series = new.series and e.state is not 'dead' order by e.born, e.id limit 1);
  update work set behind = 1
  where tenant = new.tenant and behind = 0 and id = (
    select e.id from work as e indexed by work_by_series where e.tenant = new.tenant and e.series = new.series and e.state is not 'dead'
    order by e.born, e.id limit 1 offset 1);
end;

create trigger work_leaves after delete on work when old.series is not null and old.state is not 'dead' and old.behind = 0
begin
  update work set behind = 0
  where tenant = old.tenant and behind = 1 and id = (
    select e.id from work as e indexed by work_by_series where e.tenant = old.tenant and e.series = old.series and e.state is not 'dead' order by e.born, e.id limit 1);
end;

create trigger work_turns after update of series, state on work
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
