// Families of secrets, written independently of the rules. A template has literal text and, in braces, an alphabet with a count. Bodies are
// made up at test time, so nothing here is a live key.
import { BASE36, BASE58, BASE62, BASE64, BASE64URL, type Chance, DIGITS, HEX, LOWER, UPPER } from './chance.ts'
import { TEMPLATES_1 } from './wide-templates-1.ts'
import { TEMPLATES_2 } from './wide-templates-2.ts'

export interface WideFamily {
  readonly name: string
  readonly template: string
  /** The name under which a secret without a shape is kept. */
  readonly key?: string
}

/** The text as it is written, and the part of it that must not survive. */
export interface Made {
  readonly text: string
  readonly secret: string
}

const BASE32 = `${UPPER}234567`
const ALPHABETS: Readonly<Record<string, string>> = {
  d: DIGITS,
  h: HEX,
  H: HEX.toUpperCase(),
  l: LOWER,
  U: UPPER,
  a: BASE36,
  A: UPPER + DIGITS,
  b: BASE62,
  B: BASE64,
  u: BASE64URL,
  o: BASE58,
  t: BASE32,
}

/** Writes a template: `{h8}` is eight hex digits, `{uuid}` a UUID, `{json:…}` its base64. */
export function fill(template: string, c: Chance): string {
  return template.replace(
    /\{(uuid|([dhHlUaAbBuot])(\d+)|json:([^}]+))\}/g,
    (_, all: string, alphabet: string, count: string, json: string) => {
      if (all === 'uuid') return fill('{h8}-{h4}-{h4}-{h4}-{h12}', c)
      if (json !== undefined) return Buffer.from(JSON.stringify({ [json]: c.chars(BASE62, 24), n: c.int(9) })).toString('base64url')
      return c.chars(ALPHABETS[alphabet] as string, Number(count))
    },
  )
}

export function make({ template }: WideFamily, c: Chance): Made {
  const text = fill(template, c)
  const secret = /«(.*)»/.exec(text)?.[1]
  return secret === undefined ? { text, secret: text } : { text: text.replace(/[«»]/g, ''), secret }
}

const rows = (templates: string) =>
  templates
    .trim()
    .split('\n')
    .map((line) => /^(.*?) {2,}(.+)$/.exec(line) ?? [])

export const WIDE_SHAPED: readonly WideFamily[] = rows(TEMPLATES_1 + TEMPLATES_2.trimStart()).map(([, name = '', template = '']) => ({
  name,
  template,
}))

/** Secrets without a shape: only the name beside them tells what they are. */
export const WIDE_NAMED: readonly WideFamily[] = rows(`
ALGOLIA_ADMIN_KEY          {h32}
amplitude_secret_key       {h32}
AWS_SECRET_ACCESS_KEY      {B40}
auth0ClientSecret          {u64}
BASIC_AUTH_PASSWORD        {b18}
CF_API_TOKEN               {u40}
consumerSecret             {b50}
DATADOG_API_KEY            {h32}
DB_PASSWORD                {b8}!{b4}#
DEEPGRAM_API_KEY           {h40}
DJANGO_SECRET_KEY          {u50}
encryption_key             {B43}=
FASTLY_API_TOKEN           {u32}
FTP_PASSWORD               {b6}%{b6}
HEROKU_API_KEY             {uuid}
jwtSecret                  {b64}
KAFKA_SASL_PASSWORD        {B64}
MISTRAL_API_KEY            {b32}
MYSQL_ROOT_PASSWORD        {b10}+{b4}
NGROK_AUTHTOKEN            {b25}_{b23}
okta_api_token             00{u40}
PAGERDUTY_TOKEN            u+{u18}
privateKey                 {h64}
REDIS_PASSWORD             {B44}
SENTRY_AUTH_TOKEN          {h64}
smtp_password              {b16}
session_secret             {h48}
SUMO_ACCESS_KEY            {b64}
TWILIO_AUTH_TOKEN          {h32}
vault_unseal_key           {B43}=
webhook_secret             {h40}
x-api-key                  {b40}
`).map(([, key = '', template = '']) => ({ name: key, key, template }))
