// The places where a secret turns up in what an agent records. A context says which innocent pieces around it must survive.
import type { Chance } from './chance.ts'
import type { Family } from './families.ts'

export interface Case {
  readonly data: unknown
  readonly needles: readonly string[]
  readonly keep: readonly string[]
}

export const CONTEXTS = ['neutral key', 'secret key', 'prose', 'json text', 'nested json text', 'line', 'deep', 'log'] as const
/** Contexts for a bare word only: a text of several words does not fit into them. */
export const WORD_CONTEXTS = ['bare', 'assignment', 'header', 'query', 'yaml', 'shell', 'quoted log'] as const
export type Context = (typeof CONTEXTS)[number] | (typeof WORD_CONTEXTS)[number]

export function place(family: Family, context: Context, c: Chance): Case {
  const secret = family.make(c)
  const raw = family.needles?.(secret) ?? [secret]
  const needles = context === 'query' ? [...raw, ...raw.map(encodeURIComponent)] : raw
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
    case 'bare': return [text]
    case 'assignment': return [{ stdout: `MODE=fast\n${c.pick(['FOO', 'SERVICE_REF', 'upstream', 'value'])}=${text}\nPORT=80` }, 'MODE=fast', 'PORT=80']
    case 'header': return [`GET /v1 HTTP/1.1\r\nHost: example.com\r\n${c.pick(['X-Custom', 'X-Client-Ref', 'X-Trace'])}: ${text}\r\nAccept: */*`, 'Host: example.com', 'Accept: */*']
    case 'query': return [`GET https://api.example.com/v1/items?limit=20&ref=${encodeURIComponent(text)}&page=2 200`, '?limit=20&ref=', '&page=2 200']
    case 'yaml': return [`service:\n  mode: fast\n  upstream: ${c.pick(['{}', '"{}"', "'{}'"]).replace('{}', () => text)}\n  port: 80`, 'mode: fast', 'port: 80']
    case 'shell': return [{ command: c.pick(["echo '{}' | tool import", 'tool push {} --force', 'tool --input={} --force', 'VALUE={} tool run']).replace('{}', () => text) }, 'tool']
    case 'quoted log': return [`2025-01-02T03:04:05Z WARN rejected "${text}" from 10.0.0.1 after 3 tries`, '2025-01-02T03:04:05Z WARN rejected "', '" from 10.0.0.1 after 3 tries']
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
    case 'bare': return [{ [key]: secret }]
    case 'assignment': return [`MODE=fast\n${env}=${secret}\nPORT=80`, 'MODE=fast', 'PORT=80']
    case 'header': return [`Host: example.com\r\nX-${spoken.replaceAll(' ', '-')}: ${secret}\r\nAccept: */*`, 'Host: example.com', 'Accept: */*']
    case 'query': return [`GET https://api.example.com/v1/items?limit=20&${key}=${encodeURIComponent(secret)}&page=2 200`, '?limit=20&', '&page=2 200']
    case 'yaml': return [`service:\n  mode: fast\n  ${key}: "${secret}"\n  port: 80`, 'mode: fast', 'port: 80']
    case 'shell': return [{ command: `${env}='${secret}' tool run --force` }, 'tool run --force']
    case 'quoted log': return [`2025-01-02T03:04:05Z WARN rejected "${key}=${secret}" from 10.0.0.1`, 'WARN rejected "', ' from 10.0.0.1']
    case 'log': return [`10:00:01 INFO starting up\n10:00:02 DEBUG sent {"user":"bob","${key}":"${secret}","n":1}\n10:00:03 INFO ready`, '10:00:01 INFO starting up', '"user":"bob"', '"n":1}\n10:00:03 INFO ready']
  }
}
