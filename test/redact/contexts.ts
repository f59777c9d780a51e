// Eight places a secret turns up in what an agent records. A context says which innocent pieces around it must survive.
import type { Chance } from './chance.ts'
import type { Family } from './families.ts'

export interface Case {
  readonly data: unknown
  readonly needles: readonly string[]
  readonly keep: readonly string[]
}

export const CONTEXTS = ['neutral key', 'secret key', 'prose', 'json text', 'nested json text', 'line', 'deep', 'log'] as const
export type Context = (typeof CONTEXTS)[number]

export function place(family: Family, context: Context, c: Chance): Case {
  const secret = family.make(c)
  const needles = family.needles?.(secret) ?? [secret]
  const text = family.dress?.(secret, c) ?? secret
  const own = family.keep ?? []
  const data = family.key === undefined ? shaped(text, context, c) : named(text, family.key, context, c)
  // Under a secret key the whole value may go; everywhere else the dress stays.
  return { data: data[0], needles, keep: [...(context === 'secret key' ? [] : own), ...data.slice(1)] as string[] }
}

/** A secret that must be known by its looks: nothing around it says what it is. */
function shaped(text: string, context: Context, c: Chance): [unknown, ...string[]] {
  // biome-ignore format: one row a context
  switch (context) {
    case 'neutral key': return [{ note: text, city: 'Lisbon' }, 'Lisbon']
    case 'secret key': return [{ [c.pick(['apiKey', 'auth_token', 'credentials', 'SECRET', 'accessKey'])]: text, region: 'eu-west-1' }, 'eu-west-1']
    case 'prose': return [`Yesterday the build used ${text} and it worked, see the wiki page.`, 'Yesterday the build used ', ' and it worked, see the wiki page.']
    case 'json text': return [{ body: JSON.stringify({ output: text, status: 'done' }) }, 'done', 'output']
    case 'nested json text': return [{ body: JSON.stringify({ result: JSON.stringify({ output: text, count: 3 }), ok: true }) }, 'result', 'count']
    case 'line': {
      const line = c.pick(['run --input {} --verbose', 'X-Custom: {}', 'export FOO={}', "deploy -k '{}' now", 'value: {}'])
      return [{ stdout: line.replace('{}', () => text) }, line.split('{}')[0] as string]
    }
    case 'deep': return [{ items: [{ inner: { list: ['first', text, 'last'] } }] }, 'first', 'last']
    case 'log': return [`10:00:01 INFO starting up\n10:00:02 DEBUG got ${text}\n10:00:03 INFO ready`, '10:00:01 INFO starting up\n10:00:02 DEBUG got ', '10:00:03 INFO ready']
  }
}

/** A secret without a shape: only its name gives it away, so every context names it, as it does in life. */
function named(secret: string, key: string, context: Context, c: Chance): [unknown, ...string[]] {
  const spoken = key
    .replace(/[_-]/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  const env = spoken.toUpperCase().replaceAll(' ', '_')
  // biome-ignore format: one row a context
  switch (context) {
    case 'neutral key': return [{ vars: [{ name: env, value: secret }, { name: 'MODE', value: 'fast' }] }, env, 'fast']
    case 'secret key': return [{ [key]: secret, region: 'eu-west-1' }, 'eu-west-1']
    case 'prose': return [`Note that the ${spoken} is ${secret} for the staging box.`, `Note that the ${spoken} is `, ' for the staging box.']
    case 'json text': return [{ body: JSON.stringify({ [key]: secret, status: 'done' }) }, 'done']
    case 'nested json text': return [{ body: JSON.stringify({ result: JSON.stringify({ [key]: secret, count: 3 }), ok: true }) }, 'result', 'count']
    case 'line': {
      const line = c.pick([`export ${env}={}`, `tool --${spoken.replaceAll(' ', '-')} '{}' --verbose`, `${key}: "{}"`, `${env}={} ./start.sh`])
      return [{ stdout: line.replace('{}', () => secret) }, line.split('{}')[0] as string]
    }
    case 'deep': return [{ items: [{ inner: { list: ['first', { [key]: secret }, 'last'] } }] }, 'first', 'last']
    case 'log': return [`10:00:01 INFO starting up\n10:00:02 DEBUG sent {"user":"bob","${key}":"${secret}","n":1}\n10:00:03 INFO ready`, '10:00:01 INFO starting up', '"user":"bob"', '"n":1}\n10:00:03 INFO ready']
  }
}
