-- The journal, the rows folded from it, and the receipts that make a retry safe.
--
-- Events keep a rowid: they only ever arrive at the end, and a table clustered on (tenant, seq) would carry whole payloads in its
-- inner pages. Ids, digests and hashes are raw bytes, the payload is the exact JSON text that was hashed.

create table migrations (
  number     integer primary key,
  name       text not null,
  checksum   text not null,
  applied_at integer not null
) strict;

create table secrets (
  name  text primary key,
  value blob not null
) strict, without rowid;

create table heads (
  tenant text primary key,
  seq    integer not null,
  hash   blob not null,
  state  text not null default 'active'
) strict, without rowid;

create table events (
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

create unique index events_by_seq on events (tenant, seq);
create index events_by_session on events (tenant, session, seq) where session is not null;
create index events_by_run on events (tenant, run, seq) where run is not null;
create index events_by_subject on events (tenant, subject, seq) where subject is not null;
create index events_by_type on events (tenant, type, seq);

create trigger events_follow before insert on events
when new.seq is not 1 + coalesce((select max(seq) from events where tenant = new.tenant), 0)
begin
  select raise(abort, 'inkfast: an event must follow the last one');
end;

-- The one change allowed is the erasure of a payload together with its salt.
create trigger events_stay before update on events
when new.payload is not null or new.salt is not null
  or new.tenant is not old.tenant or new.seq is not old.seq or new.id is not old.id or new.at is not old.at
  or new.type is not old.type or new.schema is not old.schema or new.class is not old.class or new.actor is not old.actor
  or new.session is not old.session or new.run is not old.run or new.subject is not old.subject or new.cause is not old.cause
  or new.key is not old.key or new.digest is not old.digest or new.hash is not old.hash
begin
  select raise(abort, 'inkfast: events are append-only');
end;

create trigger events_remain before delete on events
begin
  select raise(abort, 'inkfast: events are append-only');
end;

-- Kept for thirty days, not folded, not dropped by a rebuild.
create table receipts (
  tenant text not null,
  key    blob not null,
  seq    integer not null,
  count  integer not null,
  body   blob not null,
  at     integer not null,
  primary key (tenant, key)
) strict, without rowid;

create index receipts_by_at on receipts (at);

create table sessions (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  state    text,
  owner    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index sessions_by_born on sessions (tenant, born, id);
create index sessions_by_state on sessions (tenant, state, born, id);
create index sessions_by_owner on sessions (tenant, owner, born, id);
create index sessions_by_owner_and_state on sessions (tenant, owner, state, born, id);

create table names (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  target   text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index names_by_target on names (tenant, target, id);

create table leases (
  tenant   text not null,
  id       text not null,
  born     integer not null,
  revision integer not null,
  fence    integer,
  owner    text,
  body     text not null,
  primary key (tenant, id)
) strict, without rowid;

create index leases_by_owner on leases (tenant, owner, id);
