// The SQL function that applies a batch, and the pieces of its text that the fast path shares. The function knows no table of rows: it calls
// `guard_rows`, `remove_rows` and `put_rows`, which scripts/schema.ts generates from model/tables.ts, and those of content-functions.ts.

import { declaredParameters, type EventParameter, eventVariables } from './commit-parameters.ts'
import { CONTENT } from './content-functions.ts'
import { textAt } from './pieces.ts'

// Constants are inlined: PL/pgSQL would initialise a variable in every transaction.
const NONE = `'\\x${'00'.repeat(16)}'::bytea`
const LINK = `'\\x${Buffer.from('inkfast/1/link\0').toString('hex')}'::bytea`
const RECEIPT = `'\\x${Buffer.from('inkfast/1/receipt\0').toString('hex')}'::bytea`

/** Bytes of an event that have a fixed size, in this order: id, salt, digest, event, session, run, subject, cause, key. */
export const FIXED = { id: 1, salt: 17, digest: 33, event: 65, session: 97, run: 113, subject: 129, cause: 145, key: 161, size: 176 }

/** SQL for the inputs of the insertion: variables in the function, parameters in a statement of the fast path. */
export interface EventSource {
  readonly tenant: string
  readonly seq: string
  readonly hash: string
  readonly parameters: Readonly<Record<EventParameter, string>>
}

/** The insertion of a batch's events. The caller adds the condition that selects them. */
export function insertEvents({ tenant, seq, hash, parameters: from }: EventSource): string {
  const piece = (name: keyof typeof FIXED, size: number): string =>
    `substring(${from.bytes} from d.n::integer * ${FIXED.size} - ${FIXED.size - FIXED[name]} for ${size})`
  const optional = (name: keyof typeof FIXED): string => `nullif(${piece(name, 16)}, ${NONE})`
  // Most events have no run, subject, cause and key. Then one flag says so for the batch, and nothing is read.
  const seldom = (name: keyof typeof FIXED): string => `case when ${from.seldom} then ${optional(name)} end`
  const lists = [from.at, from.type, from.schema, from.class, from.actor, from.payloadFrom, from.payloadSize]
  return `insert into inkfast.events
      (tenant, seq, id, at, type, schema, class, actor, session, run, subject, cause, key, payload, salt, digest, hash)
    select ${tenant}, ${seq}, ${piece('id', 16)}, d.at, d.type, coalesce(d.schema, 1), coalesce(d.class, 0::smallint), coalesce(d.actor, ''),
      ${optional('session')},
      ${seldom('run')}, ${seldom('subject')},
      ${seldom('cause')}, ${seldom('key')},
      ${textAt(from.payloads, 'd.payload_from', 'd.payload_size')},
      ${piece('salt', 16)}, ${piece('digest', 32)}, ${hash}
    from unnest(${lists.join(', ')}) with ordinality
      as d (at, type, schema, class, actor, payload_from, payload_size, n)`
}

/** Ids and links of events that an earlier send saved, so that a resent commit gets the same receipts in one round trip. */
const receiptsOf = (seq: string, count: string): string => `(
          select jsonb_agg(jsonb_build_array(encode(r.id, 'hex'), encode(r.hash, 'hex'))) from (
            select t.id, t.hash from inkfast.events t
            where t.tenant = v_tenant and t.seq >= ${seq} and t.seq < ${seq} + ${count} order by t.seq offset 0
          ) r)`

/** The seq of an event of the batch; null if its commit was refused, or if `n` is 0. */
const seqOf = (n: string): string => `case when v_any then v_seqs[${n}] else base + nullif(${n}, 0) end`

/**
 * One call, one round trip, one transaction, for a batch of one tenant in which no two commits touch the same row, key or session.
 *
 * The server keeps a plan made while a table was empty, when every index looks as good as the right one. So the planner gets no choice: each
 * lookup by key is a range in the order of that key, which only its own index has, and sorts and sequential scans are off. Without this,
 * 25 k events a second became 0.2 k when a table had grown, or half of that by the choice of a wrong index.
 */
export const commitFunction = `create function inkfast.commit_v1(
  ${declaredParameters.join(',\n  ')},
  out base   bigint,
  out hashes bytea,
  out odd    jsonb,
  out now    bigint
) language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
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
        'at', v_row.at, 'body', v_row.body, 'digest', v_row.digest, 'salt', v_row.salt, 'receipts', ${receiptsOf('v_row.seq', 'v_row.count')});
    end loop;
  end if;

  -- An earlier sending, by the id of its first event, beyond the head that the sender knew.
  if p_since < v_seq then
    for v_row in
      select c.n as commit, min(e.seq) as seq
      from generate_series(1, p_commits) c (n)
      cross join lateral (select substring(p_bytes from (coalesce(p_firsts[c.n], c.n) - 1) * ${FIXED.size} + 1 for 16) as id offset 0) a
      cross join lateral (
        select t.seq from inkfast.events t where t.tenant = v_tenant and t.id between a.id and a.id order by t.id offset 0
      ) e
      where not v_out[c.n] and coalesce(p_firsts[c.n], c.n) > 0 and e.seq > coalesce(p_sinces[c.n], p_since)
      group by c.n
    loop
      v_any := true;
      v_out[v_row.commit] := true;
      v_at := case when p_event_commits is null then 1 else cardinality(array_positions(p_event_commits, v_row.commit)) end;
      odd := odd || jsonb_build_object('commit', v_row.commit, 'kind', 'sent', 'seq', v_row.seq, 'receipts', ${receiptsOf('v_row.seq', 'v_at')});
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
        v_hash := sha256(${LINK} || v_hash || int8send(v_seq) || substring(p_bytes from ${FIXED.size} * i - ${FIXED.size - FIXED.event} for 32));
        v_seqs[i] := v_seq;
        hashes := hashes || v_hash;
      end if;
    end loop;
  else
    for i in 1 .. p_events loop
      v_hash := sha256(${LINK} || v_hash || int8send(base + i) || substring(p_bytes from ${FIXED.size} * i - ${FIXED.size - FIXED.event} for 32));
      hashes := hashes || v_hash;
    end loop;
    v_seq := base + p_events;
  end if;

  if v_seq > base then
    ${insertEvents({
      tenant: 'v_tenant',
      seq: seqOf('d.n'),
      hash: `substring(hashes from (${seqOf('d.n')} - base)::integer * 32 - 31 for 32)`,
      parameters: eventVariables,
    })}
    where not v_any or v_seqs[d.n] is not null;
  end if;
  -- Erasures and states come in a batch of one.
  if (v_seq > base or (p_state is not null and not v_out[1]))
    and (case when p_state is null then inkfast.move_head_v1(v_tenant, base, v_was, v_seq, v_hash)
      else inkfast.change_state_v1(v_tenant, base, v_was, v_seq, v_hash, p_state) end) is null
  then
    raise exception 'the locked head did not move' using errcode = 'IF003';
  end if;

  if coalesce(p_node_commits, p_ref_events) is not null or '${CONTENT}' = any (p_guard_names) then
    v_done := inkfast.put_content(row(v_tenant, now, v_out, p_node_commits, p_node_refs, p_node_from, p_node_size, p_node_bodies,
      (select array_agg(case when r.event between 1 and p_events then ${seqOf('r.event')} end order by r.n)
       from unnest(p_ref_events) with ordinality as r (event, n)),
      p_ref_names,
      (select array_agg(p_guard_ids[p_pair_guards[p.n]]) from unnest(p_pair_commits) with ordinality as p (commit, n)
       where p_guard_tables[p_pair_guards[p.n]] = '${CONTENT}' and not v_out[p.commit])
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
    select v_tenant, r.key, r.seq, r.count, r.body, now, substring(sha256(${RECEIPT} || int4send(octet_length(v_tenant)) || convert_to(v_tenant, 'UTF8')
      || r.key || int8send(r.seq) || int8send(r.count) || r.body || int8send(now)) for 16)
    from (select substring(p_keys from (k.n::integer - 1) * 16 + 1 for 16) as key, ${seqOf('coalesce(p_firsts[k.commit], k.commit)')} as seq,
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
$$;`
