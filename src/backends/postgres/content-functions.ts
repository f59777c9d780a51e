// The SQL functions for content that commits name or bring: nodes of values, blobs, and references to both. commit_v1 and the fast path call
// them once the head is locked. Garbage collection waits for that lock too and moves no head, so only a look behind the lock is sure.

import { BLOB_NAMED_AGAIN_MS } from '../../model/blob.ts'
import { NAMED_AGAIN_MS } from '../../model/value.ts'
import { pieceAt } from './pieces.ts'

/** Stands for a table in guards on content. Their ids are `blob:` and a digest, or the digits of a node's ref. */
export const CONTENT = 'content'

const nodeAt = (n: string): string => `substring(p.node_refs from ${n}::integer * 32 - 31 for 32)`
const isBlob = (name: string): string => `${name} like 'blob:%'`
const digestOf = (name: string): string => `substring(${name} from 6)`

export const contentFunctions = `-- In guards on content alone, the names may be left out.
create function inkfast.guard_content(p inkfast.guard_list) returns bigint[] language plpgsql as $$
begin
  return (
    select array_agg(array[g.n, 0])
    from unnest(p.names, p.ids) with ordinality as g (name, id, n)
    where coalesce(g.name, '${CONTENT}') = '${CONTENT}' and case when ${isBlob('g.id')}
      then coalesce((
        select t.state from inkfast.blobs t
        where t.tenant = p.tenant and t.digest between ${digestOf('g.id')} and ${digestOf('g.id')} order by t.digest limit 1), 'deleting') = 'deleting'
      else (
        select t.id from inkfast.nodes t
        where t.tenant = p.tenant and t.ref between decode(g.id, 'hex') and decode(g.id, 'hex') order by t.ref limit 1) is null end);
end
$$;

-- Nodes with their commits, references of events with their seqs (null where the commit was refused), and content that guards named.
create type inkfast.content_list as (
  tenant text, now bigint, outs boolean[], node_commits integer[], node_refs bytea, node_from integer[], node_size integer[], node_bodies bytea,
  ref_seqs bigint[], ref_names text[], named text[]);

create function inkfast.put_content(p inkfast.content_list) returns boolean language plpgsql as $$
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
    select p.tenant, v_node + d.n, ${nodeAt('d.n')}, p.now, ${pieceAt('p.node_bodies', 'd.body_from', 'd.body_size')}
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
    select decode(g.id, 'hex') as ref from unnest(p.named) as g (id) where not ${isBlob('g.id')}
    union all
    select ${nodeAt('d.n')} from unnest(p.node_from, p.node_commits) with ordinality as d (body_from, commit, n) where p.outs[d.commit] is not true
  ) r
  cross join lateral (
    select t.id, t.at from inkfast.nodes t where t.tenant = p.tenant and t.ref between r.ref and r.ref order by t.ref limit 1
  ) e
  left join lateral (
    select t.at, t.number from inkfast.named_nodes t where t.tenant = p.tenant and t.ref between r.ref and r.ref order by t.ref limit 1
  ) m on true
  left join lateral (select t.number, t.top, t.active from inkfast.collections t where t.tenant between p.tenant and p.tenant limit 1) c on true
  where case when c.active = 1 and e.id <= c.top then m.number is distinct from c.number
    else p.now - greatest(e.at, m.at) > ${NAMED_AGAIN_MS} end
  on conflict (tenant, ref) do update set at = excluded.at, number = excluded.number;

  -- Blobs that are named: a condemned one is present again, and a collection that is under way keeps it.
  for v_blob in
    select ${digestOf('g.id')} from unnest(p.named) as g (id) where ${isBlob('g.id')}
    union
    select ${digestOf('r.name')} from unnest(p.ref_seqs, p.ref_names) as r (seq, name) where r.seq is not null and ${isBlob('r.name')}
  loop
    update inkfast.blobs t set state = 'present', at = p.now, number = coalesce(c.number, t.number)
    from (select (select s.number from inkfast.collections s where s.tenant = p.tenant and s.active = 1) as number) c
    where t.tenant = p.tenant and t.digest = v_blob and t.state <> 'deleting'
      and (t.state <> 'present' or t.number <> coalesce(c.number, t.number) or p.now - t.at > ${BLOB_NAMED_AGAIN_MS});
  end loop;
  return true;
end
$$;

revoke all on function inkfast.guard_content, inkfast.put_content from public;
grant execute on function inkfast.guard_content, inkfast.put_content to inkfast_app;`
