// Measures that redaction stays linear, by CPU time: the worst texts we can think of at 64 KiB and at 128 KiB. A quadratic rule gives 4.

import { limits } from '../../src/model/limits.ts'
import { redactor } from '../../src/redact/redactor.ts'
import { BASE62, BASE64URL, chance, HEX } from './chance.ts'

const KIB = 1024
/** What the promise allows for twice the text. */
export const MOST = 2.5

export interface Linear {
  readonly name: string
  readonly small: number
  readonly large: number
  readonly ratio: number
}

// biome-ignore format: a list is read in lines
const UNITS: readonly string[] = [
  'a', '=', ':', '"', "'", '\\', '-', '.', '/', '<', '@', ' ', '%', '$', '1', '{', '[', '_', 'A', '\n', '+', '|', ';',
  '-----BEGIN ', '-----BEGIN RSA PRIVATE ' + 'KEY-----', '-----BEGIN RSA PRIVATE ' + 'KEY-----{', 'Private-Lines: 4\n',
  'eyJ', 'eyJ-', 'eyJ.', 'eyJaaaaaaaaaa.', 'eyJaaaaaaaaaa.b-', '{"a":', '{"a":"', '[[', '[{"a":"\\"', '"\\"', '{"password":"', '\\"password\\":\\"',
  'password', 'password=', 'password: ', 'password="', "password='", 'password=$a', 'password=<', 'password=(', 'password:\\"', 'password:\\\\"', 'password is ',
  'pin=', 'pin=1', 'pin:=', 'sig=', 'pwd=/', 'auth=', 'pass=a', 'token=1.', 'token: a.', 'api key: ', 'key key key: ', 'a.a:', 'cookie: ', 'cookie: a=', 'Cookie: a=b; ', 'cookie: a=b;',
  'authorization: ', 'authorization: digest ', 'authorization: bearer ', 'Bearer ', 'bearer a1', 'basic YTpi', 'https://', '://a:', '://a:b', '://a:b/', '://a:b@', 'x:x@', '://@',
  'sk-', 'sk-a1', 'sk_a-', 's' + 'k-aaaaaaaaaaaaaaaaaaaaaaaa-', 'gl' + 'pat-', 'xo' + 'xb-', 'M', 'M.', '-us1', 'a-', 'a_', 'a1-', 'a1.', 'a.', 'ab-1', 'us-us', 'atlas' + 'v1.', '1:', '123456789:', '0x', '\\n', '\\nab_1', '%3D', 'a%3Da_',
  ' --password ', ' --a', ' -u a:', 'curl -u ', 'mysql ', 'mysql -', '-p', 'login a password ', 'machine ', '<a>', '<password>', '<password>a</', '</', '<a', '[redacted:key:', '[redacted:key:1a2b3c4d]', 'password=[redacted:key:1a2b3c4d]', 'cookie: a=[redacted:key:1a2b3c4d]; ', '[redacted:key:1a2b3c4d];',
  '-----BEGIN RSA PRIVATE ' + 'KEY-----[redacted:key:1a2b3c4d]', 'password=a ', 'é', '😀', 'password:é',
  'password%3D', '%22', '%3Da1', ':5432:', 'h:5432:a:b:', ' *:*:*:*:a1b2c3', 'kind: Secret\n', 'kind: Secret\ndata:\n', 'kind: Secret\ndata:\n a: b\n', 'data:\n', '---\nkind: Secret\n',
  '"kty":"RSA"', '{"kty":"RSA","d":"a"}', '{"kty":"RSA",', '"kind":"Secret",', '"kind":"Secret","data":{"a":"b"}', '{"kind":"Secret","data":{"a":"b"},', '"data":{',
  '<input ', '<input a="', '<a key="password" value="', '<a name="password">', '<a b="c" ', 'chpasswd ', 'chpasswd\n', 'chpasswd a:b1c2 ', '\uff1a', 'password\uff1a', '?key=', '?key=a1B2', 'hooks.zapier.com/hooks/catch/', 'bot123456789:', 'IncomingWebhook/',
  'name: password value: ', 'name:a value:', 'name: token\nvalue: a\n', "'password','", "'password',", "'password','a1!a1!a1!',", 'password: |\n', ' password: |\n', "set password '", "password '", "identified by ('", 'variable "password" {', 'variable "', '<a b>', '<a b ', '<a><![CDATA[', '<key>password</key>', '-p pass:', 'chpasswd "a:b1c2\n', 'TOKEN=a.', 'https://[redacted:key:1a2b3c4d]:',
  '** ', '**', '__', '*_', '<b>', '</b>', '<b', 'password**', '**password:', '**password:** ', 'password: **a', 'password</b>:', 'password:<b>', 'password:</b> <i>', '**password** is **', '`', '**`password`**: ',
  '| password |\n|---|---|\n| a1b2c3 |\n', '\n|---|---|', '| password ', '|', '\n| a | b1c2d3 |', 'contraseña ', 'contraseña es ', "auth=('a', '", "('a', 'b1c2d3!')", "('a',", "login('a', ", '"result":"', 'random_password "result":"', '"result', ' -U a%', ' -U ', 'nmcli ', 'htpasswd -b a ', 'printf ', 'printf a | ', 'echo a|', 'sqlplus a/', 'net use /user:a ', 'net use ', 'SecureString ', 'auth login <<<', '<<<', "ConvertTo-SecureString '", 'ConvertTo-SecureString -Force ', '--with-token <<< ', '--with-token a ', '--with-token <<< a', 'password is a(', 'password (a)', 'password is Ab(Cd', 'password=Ab(Cd', 'password=a$1', 'password: Ab.Cd(', 'pass: Ab(1c\n', '["--password",', '["--password","a1",', "'--password','a1b2c3d4',", '"mysql","-pa1",', 'kennwort x ', 'clientSecret ', 'setPassword(', 'a-a:b-c-1|',
  'authorization: digest response=', 'QQQQQQQQQQ/', 'abcdefg_', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8\n', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6+/B8\n', '5KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK ',
]

export function worstTexts(size: number): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  // Whole units, so that the texts of both sizes end alike and go the same way.
  for (const unit of UNITS) texts.set(JSON.stringify(unit), unit.repeat(Math.floor(size / unit.length)))
  for (const unit of ['{"a":', '[', '[{"a":"b"},', '"\\"', '{"a":"{\\"b', '{"password":"a"}\n', '{"a":"b"}']) {
    for (const end of ['}', ']', '"']) texts.set(`${JSON.stringify(unit)}…${end}`, unit.repeat(Math.floor(size / unit.length)) + end)
  }
  // Valid JSON in JSON in JSON, eight levels deep.
  let nested = JSON.stringify({ a: 'x'.repeat(size >> 4) })
  for (let level = 0; nested.length < size && level < 12; level++) nested = JSON.stringify({ a: nested, b: 'y'.repeat(size >> 5) })
  texts.set('nested', nested)
  const c = chance(42)
  for (let mix = 0; mix < 6; mix++) {
    let text = ''
    while (text.length < size)
      text += c.pick(UNITS) + (mix % 2 === 0 ? '' : c.chars([BASE62, BASE64URL, HEX][mix % 3] as string, c.int(12)))
    texts.set(`mix ${mix}`, text.slice(0, size))
  }
  // Quotes behind ever more backslashes: no two of them close each other.
  let ladder = ''
  for (let n = 0; ladder.length < size; n++) ladder += `password:${'\\'.repeat(n % 64)}"`
  texts.set('ladder', ladder.slice(0, size))
  return texts
}

const redact = redactor({ values: ['correct horse battery'] }, () => '00000000')
const BOUNDS = {
  portion: limits.streamChars,
  context: limits.streamContextChars,
  most: limits.streamHeldMostChars,
}

/** Masks a text as a model would write it: a few words at a time, and shown whenever enough has come. */
export function streamInPieces(text: string): string {
  const stream = redact.stream(BOUNDS)
  let out = ''
  for (let at = 0; at < text.length; at += 24) {
    stream.write(text.slice(at, at + 24))
    if (stream.ready) out += stream.take()
  }
  return out + stream.end()
}

/** The best of `rounds` runs at both sizes, warm and taken in turns: what else the machine does can only add to a time. */
export function measureLinear(
  rounds = 5,
  names?: readonly string[],
  size = 64 * KIB,
  work: (text: string) => unknown = (text) => redact.text(text),
): Linear[] {
  const small = worstTexts(size)
  const large = worstTexts(2 * size)
  const out: Linear[] = []
  for (const [name, text] of small) {
    if (names !== undefined && !names.includes(name)) continue
    const double = large.get(name) as string
    for (let warm = 0; warm < 3; warm++) work(double)
    let a = Number.POSITIVE_INFINITY
    let b = Number.POSITIVE_INFINITY
    // A neighbour's load comes and goes while a quadratic rule stays: what looks bad is measured on, up to four times as long.
    for (let round = 0; round < rounds || (round < 4 * rounds && b / a > MOST); round++) {
      a = Math.min(
        a,
        time(() => work(text)),
      )
      b = Math.min(
        b,
        time(() => work(double)),
      )
    }
    out.push({ name, small: a, large: b, ratio: b / a })
  }
  return out
}

/** Milliseconds of CPU a run, because a busy machine gives this thread only a share of a core. The clock may tick every 4 ms only. */
export function time(work: () => void, least = 20): number {
  let runs = 0
  let spent = 0
  const before = process.threadCpuUsage()
  do {
    work()
    runs++
    const { user, system } = process.threadCpuUsage(before)
    spent = (user + system) / 1000
  } while (spent < least)
  return spent / runs
}

if (import.meta.main) {
  const rows = measureLinear(3, undefined, 64 * KIB, process.argv[2] === 'stream' ? streamInPieces : undefined)
  for (const row of rows.sort((a, b) => b.ratio - a.ratio).slice(0, 15))
    console.log(`${row.name.padEnd(44)} ${row.small.toFixed(2)} ms → ${row.large.toFixed(2)} ms  × ${row.ratio.toFixed(2)}`)
  console.log('slowest')
  for (const row of rows.sort((a, b) => b.large - a.large).slice(0, 15))
    console.log(`${row.name.padEnd(44)} ${row.small.toFixed(2)} ms → ${row.large.toFixed(2)} ms  × ${row.ratio.toFixed(2)}`)
}
