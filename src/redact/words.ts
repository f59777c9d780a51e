// Every word that the redactor knows: keys that name a secret, keys that only look like it, and values that are not secret. One list in one
// place, so that a reviewer can read the whole policy without reading code.

/**
 * How a value under a key is treated. `all`: every string and number is masked. `text`: strings only (a number under `token` is a counter).
 * `auth`: the text after the scheme word. `cookie`: the whole header. `mixed`: the secret parts if any are found, else all (a connection
 * string keeps its host). `digits`: 3 to 10 digits only. `weak`: only a value that looks random. `likely`: only a value that could be a
 * password (`pass` also counts tests). `unpath`: all but a path (`PWD` is also a shell's working directory).
 */
export type KeyKind = 'none' | 'all' | 'text' | 'auth' | 'cookie' | 'mixed' | 'digits' | 'weak' | 'likely' | 'unpath'

/** Word sequences that make a key secret at any place in it, unless a word below says otherwise. */
// biome-ignore format: a list of words is read in lines, not in a column
export const SECRET_PHRASES: Readonly<Record<Exclude<KeyKind, 'none'>, readonly string[]>> = {
  all: [
    'password', 'passwords', 'passwd', 'passcode', 'passphrase', 'pass phrase', 'passwort', 'kennwort', 'senha',
    'contrasena', 'mot de passe', 'пароль', '密码', 'parola', 'haslo', 'wachtwoord',
    'db pass', 'database pass', 'pg pass', 'mysql pass', 'mongo pass', 'redis pass', 'rds pass', 'smtp pass', 'mail pass', 'email pass',
    'ftp pass', 'ssh pass', 'user pass', 'admin pass', 'root pass', 'auth pass', 'login pass', 'become pass', 'vault pass', 'sudo pass', 'ansible pass',
    'secret', 'secrets', 'credential', 'credentials', 'creds',
    'api key', 'api keys', 'apikey', 'apikeys', 'api secret', 'app key', 'appkey', 'application key', 'access key', 'accesskey', 'account key', 'accountkey',
    'auth key', 'authkey', 'secret key', 'secretkey', 'private key', 'privatekey', 'priv key', 'privkey', 'signing key', 'signature key', 'encryption key',
    'decryption key', 'cipher key', 'master key', 'shared key', 'storage key', 'service key',
    'service role key', 'subscription key', 'webhook key', 'deploy key', 'ssh key', 'pgp key', 'gpg key', 'hmac key',
    'aes key', 'rsa key', 'jwt key', 'root key', 'admin key', 'license key', 'integration key',
    'ingest key', 'recovery key', 'unseal key', 'vault key', 'license secret',
    'psk', 'preshared key', 'pre shared key', 'functions key', 'store pass', 'storepass', 'key pass', 'keypass', 'seed phrase', 'mnemonic', 'recovery phrase', 'recovery codes', 'backup codes', 'wallet key',
    // "<vendor> key": the vendors whose keys agents use most.
    'openai key', 'open ai key', 'anthropic key', 'claude key', 'gemini key', 'mistral key', 'cohere key', 'groq key',
    'stripe key', 'aws key', 'azure key', 'gcp key', 'google key', 'github key', 'twilio key', 'sendgrid key',
    'mailgun key', 'datadog key', 'algolia key', 'tavily key', 'serper key', 'pinecone key', 'ssn', 'social security number',
  ],
  // A salt, a nonce and a hash of anything but a password are public by design and not listed. A session id is not listed either: here it
  // names a session and grants nothing.
  text: [
    'token', 'bearer', 'jwt', 'phpsessid', 'jsessionid',
    'client assertion', 'code verifier', 'saml response', 'saml assertion', 'auth code', 'authorization code',
  ],
  auth: ['authorization', 'authorisation', 'proxy authorization', 'auth header', 'x auth'],
  cookie: ['cookie', 'cookies', 'set cookie'],
  mixed: ['connection string', 'connectionstring', 'conn string', 'connstring', 'conn str', 'connstr', 'dsn'],
  digits: ['pin', 'pin code', 'pincode', 'otp', 'totp', 'mfa code', 'one time code', 'verification code', 'cvv', 'cvc', 'security code'],
  likely: ['pass', 'pw'],
  unpath: ['pwd'],
  weak: ['tokens', 'sessionid', 'auth', 'sig', 'sas', 'amz signature', 'goog signature', 'pat', 'session key', 'client key', 'server key', 'write key', 'access code'],
}

/** Compounds in one lower-case word (`dbpassword`, `clientsecret`) are recognised by the end of the word. */
// biome-ignore format: a list of words is read in lines, not in a column
export const SECRET_ENDINGS: readonly string[] = [
  'password', 'passwd', 'passphrase', 'secret', 'apikey', 'privatekey', 'secretkey', 'accesskey', 'credential',
  'credentials', 'authtoken', 'accesstoken', 'refreshtoken', 'sessiontoken', 'idtoken', 'bearertoken', 'csrftoken',
  'apitoken', 'token',
  // Chinese, Japanese, Korean and Thai do not divide words.
  '密码', '密碼', '口令', '密钥', '密鑰', 'パスワード', '비밀번호', 'รหัสผ่าน', '密码是', '密碼是', '密码为', '密碼為', 'パスワードは', '비밀번호는',
]

/** A word after the phrase that makes the key about a secret instead of the secret: `password_policy`, `tokenBudget`. */
// biome-ignore format: a list of words is read in lines, not in a column
export const INNOCENT_AFTER: ReadonlySet<string> = new Set([
  // size and number
  'count', 'counts', 'counter', 'budget', 'limit', 'limits', 'length', 'len', 'size', 'usage', 'used', 'total', 'max', 'min',
  'quota', 'rate', 'cost', 'price', 'per', 'number', 'strength', 'score', 'entropy', 'window', 'ratio', 'estimate', 'remaining',
  // kind and place
  'type', 'types', 'kind', 'name', 'names', 'id', 'ids', 'arn', 'policy', 'policies', 'rule', 'rules', 'format', 'pattern', 'regex',
  'algorithm', 'alg', 'version', 'provider', 'source', 'store', 'manager', 'service', 'issuer', 'audience', 'scope', 'scopes',
  'url', 'uri', 'endpoint', 'path', 'file', 'filename', 'dir', 'folder', 'location', 'link', 'page', 'stdin', 'domain', 'host',
  'field', 'fields', 'input', 'label', 'placeholder', 'hint', 'help', 'title', 'description', 'prompt', 'message', 'error',
  'errors', 'schema', 'ref', 'reference', 'class', 'icon', 'column', 'position', 'index', 'offset', 'prefix', 'suffix', 'family',
  'fingerprint', 'thumbprint', 'ring', 'vault', 'santa', 'garden', 'sauce', 'agent', 'level', 'mode', 'method', 'strategy',
  // state and time
  'status', 'state', 'valid', 'validity', 'invalid', 'required', 'enabled', 'disabled', 'set', 'exists', 'present', 'expired',
  'expires', 'expiry', 'expiration', 'ttl', 'lifetime', 'age', 'at', 'on', 'date', 'time', 'timestamp', 'updated', 'created',
  'changed', 'rotated', 'rotation', 'attempts', 'retries', 'reset', 'consent', 'banner', 'notice', 'preferences', 'settings',
  'options', 'config', 'stats', 'metrics', 'info', 'details', 'protected', 'less', 'free', 'visible', 'hidden', 'match', 'matches',
  'validator', 'validation', 'verified', 'generator', 'handler', 'factory', 'helper', 'util', 'utils', 'parser', 'tracker',
  'ids', 'embedding', 'embeddings', 'logprobs', 'probs', 'stream', 'bucket', 'metadata', 'flow',
])

/** A word before any phrase that makes the key a question or a description: `has_password`, `isSecret`, `no_token`. */
// biome-ignore format: a list of words is read in lines, not in a column
export const INNOCENT_BEFORE: ReadonlySet<string> = new Set([
  'has', 'is', 'needs', 'need', 'requires', 'require', 'required', 'allow', 'allows', 'enable', 'enabled', 'disable', 'no', 'use', 'uses', 'show', 'hide',
  'forgot', 'forgotten', 'reset', 'change', 'missing', 'invalid', 'expired', 'should', 'can', 'with', 'without', 'public',
])

/**
 * A word before `token`/`tokens` that makes it a unit of text or a place in a list. Page and sync tokens stay on purpose: they are opaque
 * positions, replay needs them, and they grant nothing without the caller's credential.
 */
// biome-ignore format: a list of words is read in lines, not in a column
export const INNOCENT_BEFORE_TOKEN: ReadonlySet<string> = new Set([
  'prompt', 'completion', 'input', 'output', 'max', 'min', 'total', 'num', 'number', 'cached', 'cache', 'reasoning', 'thinking',
  'usage', 'used', 'remaining', 'budget', 'context', 'avg', 'mean', 'audio', 'text', 'image', 'per', 'tool', 'accepted', 'rejected',
  'page', 'next', 'prev', 'previous', 'continuation', 'continue', 'pagination', 'cursor', 'sync', 'resume', 'start', 'end', 'stop',
  'special', 'pad', 'bos', 'eos', 'unk', 'mask', 'generated', 'nft', 'erc20', 'design', 'lexer', 'syntax', 'of',
])

/** Values that stand for the absence or the kind of a secret. In text they are never masked. */
// biome-ignore format: a list of words is read in lines, not in a column
export const INNOCENT_VALUES: ReadonlySet<string> = new Set([
  'null', 'nil', 'none', 'undefined', 'true', 'false', 'yes', 'no', 'on', 'off', 'string', 'str', 'number', 'int', 'integer',
  'boolean', 'bool', 'any', 'unknown', 'object', 'array', 'bytes', 'buffer', 'text', 'char', 'varchar', 'required', 'optional',
  'missing', 'invalid', 'valid', 'expired', 'empty', 'hidden', 'redacted', 'masked', 'removed', 'revoked', 'bearer', 'basic',
  'jwt', 'oauth', 'oauth2', 'header', 'query', 'body', 'cookie', 'env', 'vault', 'keychain', 'prompt', 'stdin', 'default', 'unset',
  'self', 'this', 'await', 'new', 'function', 'async', 'return', 'typeof', 'readonly', 'const', 'let', 'var', 'enabled', 'disabled',
  'incorrect', 'wrong', 'correct', 'rejected', 'accepted', 'failed', 'changed', 'updated', 'rotated', 'set', 'ok', 'the', 'a', 'an',
])

/** The few of them that count even under a key or in quotes: no real password is `null`. */
// biome-ignore format: a list of words is read in lines, not in a column
export const ABSENT_VALUES: ReadonlySet<string> = new Set([
  'null', 'nil', 'none', 'undefined', 'true', 'false', 'string', 'number', 'boolean', 'integer', 'object', 'bearer', 'basic', 'required', 'optional',
  'omit', 'include', 'same-origin', 'inherit', 'read', 'write', // of `credentials` in fetch, of `secrets` and `id-token` in a workflow
])

/**
 * Prefixes of identifiers, digests and file names. Agent runs are full of `msg_…` and `call_…`, so the rule for unknown vendors must never
 * touch them.
 */
// biome-ignore format: a list of words is read in lines, not in a column
export const INNOCENT_PREFIXES: ReadonlySet<string> = new Set([
  'msg', 'message', 'toolu', 'tool', 'call', 'chatcmpl', 'cmpl', 'resp', 'response', 'req', 'request', 'run', 'thread', 'asst',
  'assistant', 'file', 'evt', 'event', 'cus', 'pi', 'ch', 'sub', 'price', 'prod', 'product', 'in', 'inv', 'acct', 'user', 'usr',
  'org', 'proj', 'project', 'batch', 'ft', 'ftjob', 'step', 'item', 'fc', 'rs', 'ws', 'vs', 'cs', 'seti', 'pm', 'txn', 'order', 'ord',
  'sess', 'session', 'conv', 'conversation', 'job', 'task', 'wf', 'workflow', 'node', 'trace', 'span', 'build', 'deploy', 'dpl',
  'rel', 'release', 'commit', 'git', 'rev', 'tree', 'blob', 'sha', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'md5', 'blake2b', 'blake3',
  'crc32', 'digest', 'hash', 'etag', 'checksum', 'integrity', 'hex', 'uuid', 'guid', 'ulid', 'nanoid', 'id', 'img', 'image', 'video',
  'audio', 'photo', 'asset', 'chunk', 'main', 'index', 'vendor', 'app', 'css', 'js', 'jsx', 'sc', 'svelte', 'data', 'cache', 'tmp', 'temp', 'log',
  'snapshot', 'backup', 'layer', 'container', 'pod', 'vol', 'volume', 'sg', 'subnet', 'vpc', 'eni', 'ami', 'snap', 'i', 'arn', 'key',
  'idem', 'idempotency', 'page', 'cursor', 'doc', 'document', 'part', 'chk', 'ckpt', 'checkpoint', 'mem', 'memory', 'work', 'ext', 'docker',
  'eff', 'effect', 'apr', 'approval', 'cnv', 'canvas', 'ten', 'tenant', 'lease', 'seal', 'receipt', 'artifact', 'upload', 'download',
  'diff', 'qm', 'bafy', 'did', 'urn', 'ipfs', 'pkg', 'npm', 'node', 'lock', 'v1', 'v2', 'v3', 'x', 'test', 'spec', 'public', 'pub', 'pk', 'rsa', 'ecdsa', 'ssh',
])

/** URL schemes and header schemes that are followed by a secret. */
// biome-ignore format: a list of words is read in lines, not in a column
export const AUTH_SCHEMES: ReadonlySet<string> = new Set([
  'bearer', 'basic', 'token', 'apikey', 'api-key', 'key', 'digest', 'negotiate', 'ntlm', 'jwt', 'oauth', 'hmac', 'dpop',
  'aws4-hmac-sha256', 'ssws', 'sharedkey', 'sharedaccesssignature', 'geniekey', 'bot', 'splunk', 'sso-key', 'pve', 'mac',
])

/** Words by which a sentence names a secret. `key` alone is weak: it counts only with a verb right before the value. */
// biome-ignore format: a list of words is read in lines, not in a column
export const SPOKEN_NAMES: readonly string[] = [
  'bearer', 'basic', 'passwords', 'password', 'passphrase', 'passcode', 'passwd', 'pwd', 'secrets', 'secret', 'tokens', 'token',
  'api keys', 'api key', 'access keys', 'access key', 'secret keys', 'secret key', 'private keys', 'private key', 'license keys', 'license key', 'auth keys', 'auth key',
  'credentials', 'credential', 'webhook', 'keys', 'key', 'passwort', 'kennwort', 'passe',
]

/** Words after a name that make the sentence about something else: `the password manager is 1Password`. */
// biome-ignore format: a list of words is read in lines, not in a column
export const SPOKEN_OTHER: ReadonlySet<string> = new Set([
  'manager', 'managers', 'policy', 'policies', 'generator', 'hint', 'length', 'strength', 'type', 'provider', 'store', 'vault', 'service',
  'budget', 'limit', 'count', 'window', 'usage', 'rotation', 'validator', 'tool', 'app',
])

/** Words between a name and its value: `the password is …`. */
export const SPOKEN_GLUE: ReadonlySet<string> = new Set([
  'is',
  'was',
  'to',
  'as',
  'be',
  '->',
  '→',
  'called',
  'now',
  'ist',
  'lautet',
  'est',
  'è',
  'é',
  'es',
])

/** Properties that come in pairs: `{ name: 'DB_PASSWORD', value: '…' }`, as in environments, headers and forms. */
export const PAIR_NAMES: ReadonlySet<string> = new Set(['name', 'key', 'header', 'field', 'Name', 'Key', 'variable', 'ParameterKey'])
export const PAIR_VALUES: ReadonlySet<string> = new Set(['value', 'Value', 'val', 'content', 'ParameterValue'])

/** Members of a JSON Schema that may contain a real secret. An `enum` lists choices, which are public. */
export const SCHEMA_SAMPLES: ReadonlySet<string> = new Set(['default', 'const', 'example', 'examples'])
