-- Until when the holder of a lease holds on: not folded, and safe to lose. A row counts for the fence it names and for no other.

create table renewals (
  tenant text not null,
  id     text not null,
  fence  integer not null,
  until  integer not null,
  primary key (tenant, id)
) strict, without rowid;
