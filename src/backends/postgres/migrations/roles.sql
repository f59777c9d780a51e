-- The roles, which belong to the whole server and may be there already, and the schema. Nobody logs in as any of them: a login is made
-- a member of inkfast_app (or inkfast_reader) and has what that has.

do $$
declare
  v_role text;
begin
  foreach v_role in array array['inkfast_owner', 'inkfast_wall', 'inkfast_app', 'inkfast_reader'] loop
    if not exists (select 1 from pg_catalog.pg_roles where rolname = v_role) then
      begin
        execute format('create role %I nologin nosuperuser nobypassrls nocreatedb nocreaterole', v_role);
      exception when duplicate_object or unique_violation then
        -- Another database of this server was prepared at the same moment.
        null;
      end;
    end if;
    -- A superuser may become any role; everyone else is made a member, in order to make what belongs to it.
    if not pg_has_role(current_user, v_role, 'MEMBER') then
      execute format('grant %I to current_user', v_role);
    end if;
  end loop;
end
$$;

create schema if not exists inkfast authorization inkfast_owner;
grant usage on schema inkfast to inkfast_wall, inkfast_app, inkfast_reader;
