// The named families of secrets the rules were written from. Every value is made up at test time from seeded chance, and every
// prefix is put together from parts, so that nothing here looks like a live key to a scanner.
import { hash } from 'node:crypto'
import { BASE36, BASE58, BASE62, BASE64, BASE64URL, type Chance, DIGITS, HEX, LOWER, UPPER } from './chance.ts'

export interface Family {
  readonly name: string
  make(c: Chance): string
  /** The name the secret is known by, for secrets that have no shape of their own. */
  readonly key?: string
  /** The least text that makes the secret one: a URL, a header, a block. */
  dress?(secret: string, c: Chance): string
  /** What of the dress must stay readable. */
  readonly keep?: readonly string[]
  /** The strings that must not survive, where the secret is more than one line. */
  needles?(secret: string): readonly string[]
}

const b64 = (text: string) => Buffer.from(text).toString('base64')
const b64url = (text: string) => Buffer.from(text).toString('base64url')
const word = (c: Chance) =>
  c.pick(['Sommer', 'tiger', 'blau', 'Kaffee', 'river', 'Quartz']) + c.chars(DIGITS, 3) + c.pick(['!', '#', '%', '_x', '+'])
const webToken = (c: Chance) =>
  `${b64url('{"alg":"HS256","typ":"JWT"}')}.${b64url(`{"sub":"${c.chars(DIGITS, 8)}","iat":1700000000}`)}.${c.chars(BASE64URL, 43)}`
const lines = (c: Chance, count: number) => Array.from({ length: count }, () => c.chars(BASE64, 64)).join('\n')
const armour = (label: string) => (body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`
const bodyLines = (secret: string) => secret.split('\n')
/** A wallet import key: version, 32 bytes, compression mark and checksum, in Base58. */
const walletKey = (c: Chance) => {
  const body = Buffer.from([0x80, ...Array.from({ length: 32 }, () => c.int(256)), 1])
  const sum = hash('sha256', hash('sha256', body, 'buffer'), 'buffer').subarray(0, 4)
  let rest = BigInt(`0x${Buffer.concat([body, sum]).toString('hex')}`)
  let out = ''
  for (; rest > 0n; rest /= 58n) out = BASE58[Number(rest % 58n)] + out
  return out
}
const simple = (name: string, prefix: string, alphabet: string, length: number): Family => ({
  name,
  make: (c) => prefix + c.chars(alphabet, length),
})

// biome-ignore format: one row a family
export const FAMILIES: readonly Family[] = [
  simple('aws access key id', 'AK' + 'IA', UPPER + '234567', 16),
  simple('aws temporary key id', 'AS' + 'IA', UPPER + '234567', 16),
  { name: 'aws secret access key', key: 'aws_secret_access_key', make: (c) => c.chars(BASE64, 40) },
  simple('google api key', 'AI' + 'za', BASE64URL, 35),
  simple('google oauth access', 'ya' + '29.', BASE64URL, 120),
  simple('google client secret', 'GOC' + 'SPX-', BASE64URL, 28),
  { name: 'gcp service account', make: (c) => lines(c, 12), needles: bodyLines, dress: (s) => JSON.stringify({ type: 'service_account', project_id: 'demo', private_key: armour('PRIVATE ' + 'KEY')(s) }), keep: ['service_account', 'demo'] },
  { name: 'azure storage key', make: (c) => `${c.chars(BASE64, 86)}==`, dress: (s) => `DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=${s};EndpointSuffix=core.windows.net`, keep: ['AccountName=acme', 'EndpointSuffix=core.windows.net'] },
  { name: 'azure sas', make: (c) => `${c.chars(BASE62, 42)}%3D`, dress: (s) => `https://acme.blob.core.windows.net/c/b.txt?sv=2022-11-02&sr=b&sig=${s}&se=2025`, keep: ['acme.blob.core.windows.net', 'sv=2022-11-02', 'se=2025'] },
  { name: 'azure client secret', make: (c) => `${c.chars(BASE62, 3)}8Q~${c.chars(BASE62, 34)}` },
  simple('github classic', 'gh' + 'p_', BASE62, 36),
  simple('github oauth', 'gh' + 'o_', BASE62, 36),
  simple('github server', 'gh' + 's_', BASE62, 36),
  { name: 'github fine grained', make: (c) => `${'github' + '_pat_'}${c.chars(BASE62, 22)}_${c.chars(BASE62, 59)}` },
  simple('gitlab', 'gl' + 'pat-', BASE64URL, 20),
  { name: 'slack bot', make: (c) => `${'xo' + 'xb-'}${c.chars(DIGITS, 12)}-${c.chars(DIGITS, 12)}-${c.chars(BASE62, 24)}` },
  { name: 'slack app', make: (c) => `${'xa' + 'pp-'}1-A${c.chars(UPPER, 9)}-${c.chars(DIGITS, 12)}-${c.chars(HEX, 64)}` },
  { name: 'slack webhook', make: (c) => `T${c.chars(UPPER, 8)}/B${c.chars(UPPER, 8)}/${c.chars(BASE62, 24)}`, dress: (s) => `https://hooks.slack.com/${'serv' + 'ices'}/${s}`, keep: ['hooks.slack.com'] },
  simple('stripe secret', 'sk' + '_live_', BASE62, 24),
  simple('stripe restricted', 'rk' + '_live_', BASE62, 24),
  simple('stripe webhook', 'wh' + 'sec_', BASE62, 32),
  simple('openai classic', 's' + 'k-', BASE62, 48),
  simple('openai project', 's' + 'k-proj-', BASE64URL, 74),
  simple('anthropic', 's' + 'k-ant-api03-', BASE64URL, 93),
  { name: 'openrouter', make: (c) => `${'s' + 'k-or-v1-'}${c.chars(HEX, 64)}` },
  simple('huggingface', 'h' + 'f_', BASE62, 34),
  simple('groq', 'gs' + 'k_', BASE62, 52),
  simple('replicate', 'r' + '8_', BASE62, 37),
  simple('perplexity', 'pp' + 'lx-', BASE62, 48),
  simple('xai', 'xa' + 'i-', BASE62, 80),
  simple('nvidia', 'nv' + 'api-', BASE64URL, 64),
  simple('npm', 'np' + 'm_', BASE62, 36),
  simple('pypi', 'py' + 'pi-AgEIcHlwaS5vcmc', BASE64URL, 120),
  simple('rubygems', 'ruby' + 'gems_', HEX, 48),
  simple('docker', 'dc' + 'kr_pat_', BASE64URL, 27),
  simple('twilio api key', 'S' + 'K', HEX, 32),
  { name: 'twilio auth token', key: 'TWILIO_AUTH_TOKEN', make: (c) => c.chars(HEX, 32) },
  { name: 'sendgrid', make: (c) => `${'S' + 'G.'}${c.chars(BASE64URL, 22)}.${c.chars(BASE64URL, 43)}` },
  simple('mailgun', 'ke' + 'y-', HEX, 32),
  { name: 'mailchimp', make: (c) => `${c.chars(HEX, 32)}-us${c.int(20) + 1}` },
  { name: 'telegram bot', make: (c) => `${c.pick(['5', '6', '7'])}${c.chars(DIGITS, 9)}:AA${c.chars(BASE64URL, 33)}` },
  { name: 'discord bot', make: (c) => `M${c.chars(BASE62, 25)}.${c.chars(BASE64URL, 6)}.${c.chars(BASE64URL, 38)}` },
  { name: 'discord webhook', make: (c) => `1${c.chars(DIGITS, 17)}/${c.chars(BASE64URL, 68)}`, dress: (s) => `https://discord.com/api/web${'hooks'}/${s}`, keep: ['discord.com'] },
  simple('shopify', 'shp' + 'at_', HEX, 32),
  simple('square', 'sq0' + 'csp-', BASE64URL, 43),
  { name: 'paypal', make: (c) => `access_${'token'}$production$${c.chars(BASE36, 16)}$${c.chars(HEX, 32)}` },
  simple('digitalocean', 'do' + 'p_v1_', HEX, 64),
  { name: 'heroku', key: 'HEROKU_API_KEY', make: (c) => [8, 4, 4, 4, 12].map((n) => c.chars(HEX, n)).join('-') },
  { name: 'cloudflare', key: 'CF_API_TOKEN', make: (c) => c.chars(BASE64URL, 40) },
  { name: 'fastly', key: 'fastly_api_key', make: (c) => c.chars(BASE64URL, 32) },
  simple('linear', 'lin' + '_api_', BASE62, 40),
  simple('notion', 'nt' + 'n_', BASE62, 46),
  { name: 'airtable', make: (c) => `pat${c.chars(BASE62, 14)}.${c.chars(HEX, 64)}` },
  simple('figma', 'fi' + 'gd_', BASE64URL, 40),
  { name: 'postman', make: (c) => `${'PM' + 'AK-'}${c.chars(HEX, 24)}-${c.chars(HEX, 34)}` },
  simple('new relic', 'NR' + 'AK-', UPPER + DIGITS, 27),
  { name: 'datadog', key: 'DD_API_KEY', make: (c) => c.chars(HEX, 32) },
  { name: 'sentry dsn', make: (c) => c.chars(HEX, 32), dress: (s) => `https://${s}@o450123.ingest.sentry.io/4505`, keep: ['o450123.ingest.sentry.io/4505'] },
  simple('sentry token', 'sn' + 'trys_eyJpYXQi', BASE64URL, 100),
  { name: 'grafana', make: (c) => `${'gl' + 'sa_'}${c.chars(BASE62, 32)}_${c.chars(HEX, 8)}` },
  simple('planetscale', 'psc' + 'ale_tkn_', BASE64URL, 43),
  simple('supabase', 'sb' + 'p_', HEX, 40),
  simple('netlify', 'nf' + 'p_', BASE62, 40),
  simple('databricks', 'da' + 'pi', HEX, 32),
  { name: 'terraform', make: (c) => `${c.chars(BASE62, 14)}.${'atlas' + 'v1.'}${c.chars(BASE64URL, 67)}` },
  simple('vault', 'hv' + 's.', BASE64URL, 95),
  simple('doppler', 'dp' + '.pt.', BASE62, 43),
  simple('onepassword', 'op' + 's_eyJ', BASE64URL, 250),
  simple('age', 'AGE-SECRET-' + 'KEY-1', 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58),
  { name: 'pem rsa', make: (c) => lines(c, 20), needles: bodyLines, dress: armour('RSA PRIVATE ' + 'KEY') },
  { name: 'pem escaped', make: (c) => lines(c, 8).replaceAll('\n', '\\n'), needles: (s) => s.split('\\n'), dress: (s) => `-----BEGIN PRIVATE ${'KEY'}-----\\n${s}\\n-----END PRIVATE ${'KEY'}-----\\n` },
  { name: 'openssh private', make: (c) => lines(c, 10), needles: bodyLines, dress: armour('OPENSSH PRIVATE ' + 'KEY') },
  { name: 'pgp private', make: (c) => lines(c, 10), needles: bodyLines, dress: armour('PGP PRIVATE ' + 'KEY BLOCK') },
  { name: 'jwt', make: webToken },
  { name: 'bearer header', make: (c) => c.chars(BASE62, 32), dress: (s) => `Authorization: Bearer ${s}`, keep: ['Authorization: Bearer '] },
  { name: 'basic header', make: (c) => b64(`svc-user:${word(c)}`), dress: (s) => `Authorization: Basic ${s}`, keep: ['Authorization: Basic '] },
  { name: 'cookie header', make: (c) => `sid=${c.chars(BASE62, 26)}; csrf=${c.chars(HEX, 16)}`, dress: (s) => `Cookie: ${s}`, keep: ['Cookie: '] },
  { name: 'postgres url', make: word, dress: (s) => `postgres://app:${s.replace('#', '*')}@db.internal:5432/main`, needles: (s) => [s.replace('#', '*')], keep: ['postgres://app:', '@db.internal:5432/main'] },
  { name: 'mongodb srv url', make: (c) => c.chars(BASE62, 16), dress: (s) => `mongodb+srv://app:${s}@cluster0.abcde.mongodb.net/?retryWrites=true`, keep: ['mongodb+srv://app:', '@cluster0.abcde.mongodb.net/?retryWrites=true'] },
  { name: 'redis url', make: (c) => c.chars(BASE36, 20), dress: (s) => `redis://:${s}@cache:6379/0`, keep: ['redis://:', '@cache:6379/0'] },
  { name: 'amqp url', make: (c) => c.chars(LOWER, 10), dress: (s) => `amqp://guest:${s}@mq:5672/%2f`, keep: ['amqp://guest:', '@mq:5672/%2f'] },
  { name: 'https user info', make: (c) => c.chars(BASE62, 12), dress: (s) => `https://deploy:${s}@git.example.com/a/b.git`, keep: ['https://deploy:', '@git.example.com/a/b.git'] },
  { name: 'ado connection string', make: word, dress: (s) => `Server=db1;Database=shop;User Id=sa;Password=${s};Encrypt=true`, keep: ['Server=db1;Database=shop;User Id=sa;', ';Encrypt=true'] },
  { name: 'jdbc', make: (c) => c.chars(BASE62, 14), dress: (s) => `jdbc:mysql://db:3306/shop?user=app&password=${s}&useSSL=true`, keep: ['jdbc:mysql://db:3306/shop?user=app', '&useSSL=true'] },
  { name: 'password', key: 'password', make: word },
  { name: 'db password', key: 'DB_PASSWORD', make: word },
  { name: 'passphrase', key: 'passphrase', make: word },
  { name: 'client secret', key: 'clientSecret', make: (c) => c.chars(BASE62, 24) },
  { name: 'refresh token', key: 'refresh_token', make: (c) => c.chars(BASE62, 40) },
  { name: 'generic api key', key: 'x-api-key', make: (c) => c.chars(HEX, 40) },
  { name: 'signing key', key: 'signing_key', make: (c) => c.chars(BASE62, 32) },
  { name: 'ethereum private key', key: 'private_key', make: (c) => `0x${c.chars(HEX, 64)}` },
  { name: 'wallet import key', make: walletKey },
]
