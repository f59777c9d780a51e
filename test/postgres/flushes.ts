// Whether a statement waited for the disk, as a trigger on the server saw it.

import { asSuperuser } from './logins.ts'

/** From now on, with the server's own default the other way round, so that what is seen was asked for. */
export async function watchFlushes(url: string, table: string, wanted: 'on' | 'off'): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await asSuperuser(url, async (superuser) => {
    await superuser.query(`alter database ${name} set synchronous_commit = '${wanted === 'on' ? 'off' : 'on'}'`)
    await superuser.query('create table public.seen (setting text); grant insert on public.seen to public')
    await superuser.query(`
      create function public.see() returns trigger language plpgsql as $$
      begin insert into public.seen values (current_setting('synchronous_commit')); return null; end $$`)
    await superuser.query(`create trigger see after insert on inkfast.${table} for each statement execute function public.see()`)
  })
}

export async function flushesSeen(url: string): Promise<readonly string[]> {
  const { rows } = await asSuperuser(url, (superuser) => superuser.query('select setting from public.seen'))
  return rows.map(({ setting }) => setting as string)
}
