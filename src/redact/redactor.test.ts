// What the redactor promises, one sentence a test. The breadth is in test/redact/corpus.test.ts.
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactor } from './redactor.ts'

const tag = (secret: string) => createHmac('sha256', 'test').update(secret).digest('hex').slice(0, 8)
const redact = redactor({}, tag)
const made = (kind: string, secret: string) => `[redacted:${kind}:${tag(secret)}]`
const github = `gh${'p_'}a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8`

describe('values', () => {
  test('nothing to mask gives back the very same reference', () => {
    const data = { a: [1, null, true, 'text', { b: 'token budget: 4000' }], usage: { prompt_tokens: 812 } }
    expect(redact.value(data)).toBe(data)
  })

  test('the input is never changed, and untouched parts are shared', () => {
    const inner = { note: 'fine' }
    const data = { inner, password: 'hunter2' }
    const masked = redact.value(data) as typeof data
    expect(data.password).toBe('hunter2')
    expect(masked).toEqual({ inner, password: made('key', 'hunter2') })
    expect(masked.inner).toBe(inner)
  })

  test('every scalar under a secret key is masked, but not null, a boolean or an empty string', () => {
    expect(redact.value({ credentials: { user: 'bob', n: 7, on: true, none: null, empty: '', list: ['x'] } })).toEqual({
      credentials: { user: made('key', 'bob'), n: made('key', '7'), on: true, none: null, empty: '', list: [made('key', 'x')] },
    })
  })

  test('a number under a token is a counter; a number under a password is a password', () => {
    expect(redact.value({ token: 812, password: 12345678, pin: 1234 })).toEqual({
      token: 812,
      password: made('key', '12345678'),
      pin: made('key', '1234'),
    })
  })

  test('the kind is read off the shape where it has one', () => {
    expect(redact.value({ password: github, other: github })).toEqual({ password: made('github', github), other: made('github', github) })
  })

  test('the same secret has the same tag wherever it stands', () => {
    const tags = JSON.stringify(
      redact.value({ a: `password=hunter2`, password: 'hunter2', c: '{"pwd":"hunter2"}', d: 'the password is hunter2.' }),
    )
    expect(tags.match(/\[redacted:[^\]]+\]/g)).toEqual(Array(4).fill(made('key', 'hunter2')))
  })

  test('a map keyed by secrets has its keys masked, in the same order', () => {
    expect(Object.keys(redact.value({ first: 1, [github]: 2, last: 3 }) as object)).toEqual(['first', made('github', github), 'last'])
  })

  test('__proto__ is a key like any other', () => {
    const data = JSON.parse('{"a":1,"__proto__":{"password":"hunter2"},"z":"q"}')
    const masked = redact.value(data) as object
    expect(JSON.stringify(masked)).toBe(`{"a":1,"__proto__":{"password":"${made('key', 'hunter2')}"},"z":"q"}`)
    expect(Object.getPrototypeOf(masked)).toBe(Object.prototype)
  })

  test('a name beside a value, and a header pair, say what the value is', () => {
    expect(
      redact.value({
        env: [
          { name: 'DB_PASSWORD', value: 'x' },
          { name: 'MODE', value: 'fast' },
        ],
      }),
    ).toEqual({
      env: [
        { name: 'DB_PASSWORD', value: made('key', 'x') },
        { name: 'MODE', value: 'fast' },
      ],
    })
    expect(redact.value([['authorization', 'Bearer abc123']])).toEqual([['authorization', `Bearer ${made('bearer', 'abc123')}`]])
  })

  test('a schema describes a password and holds none, except in its examples', () => {
    const schema = { properties: { password: { type: 'string', description: 'At least 8 characters' } } }
    expect(redact.value(schema)).toBe(schema)
    const choices = { token: { enum: ['access-2', 'refresh-2'] } }
    expect(redact.value(choices)).toBe(choices)
    expect(redact.text(JSON.stringify(choices))).toBe(JSON.stringify(choices))
    expect(redact.value({ password: { type: 'string', default: 'hunter2' } })).toEqual({
      password: { type: 'string', default: made('key', 'hunter2') },
    })
  })
})

describe('options', () => {
  test('the option keys adds fragments, the option allow takes names away', () => {
    const own = redactor({ keys: ['taxId'], allow: ['refresh_token'] }, tag)
    expect(own.value({ user_tax_id: '12-3', refreshToken: 'plain' })).toEqual({ user_tax_id: made('key', '12-3'), refreshToken: 'plain' })
  })

  test('bound values are masked as they are, in JSON text, in a URL and in base64', () => {
    const secret = 'pa"ss/w ord&9'
    const own = redactor({ values: [secret] }, tag)
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const texts = [
      `say ${secret} now`,
      `cut ${JSON.stringify(secret)} off`,
      `GET /x?q=${encodeURIComponent(secret)}&y=1`,
      base64(secret),
      base64(`a${secret}`),
      base64(`ab${secret}c`),
      JSON.stringify({ x: secret }),
    ]
    for (const text of texts) expect(own.text(text)).toContain(made('value', secret))
    expect(redactor({ values: ['81234567'] }, tag).value({ n: 81234567 })).toEqual({ n: made('value', '81234567') })
    expect(redactor({ values: ['', 'a'] }, tag).text('a banana')).toBe('a banana')
  })
})

describe('text', () => {
  // biome-ignore format: text and secret side by side
  test.each([
    ['password=hunter2', 'hunter2'], ['password: "hunter2" ok', 'hunter2'], ["'password' => 'hunter2',", 'hunter2'], ['db.password = swordfish', 'swordfish'],
    ['export AWS_SECRET_ACCESS_KEY=abc/def+123', 'abc/def+123'], ['run --password hunter2 x', 'hunter2'], ['run --token=a1b2c3 x', 'a1b2c3'],
    ['curl -u bob:s3cret https://x', 's3cret'], ["curl -H 'X-Api-Key: abcd1234' x", 'abcd1234'], ['https://h/?access_token=abcdef&x=1', 'abcdef'],
    ['mysql -h db -phunter2 shop', 'hunter2'], ['machine h login bob password hunter2', 'hunter2'], ['<input type=password value=hunter2>', 'hunter2'], ['<password>hunter2</password>', 'hunter2'],
    ['log: {"password":"a b"} end', 'a b'], ['log: {\\"password\\":\\"xyz\\"} end', 'xyz'], ['{"password":"x1","password":"x1"', 'x1'],
    ['a: 1\npassword: swordfish\nb: 2', 'swordfish'], ['user=bob,password=a,b;c,host=x', 'a,b;c'], ['const apiKey = "abc-def-1";', 'abc-def-1'],
    ['//registry.npmjs.org/:_authToken=abc-1', 'abc-1'], ['password := "hunter2"', 'hunter2'], ['config["secret"] = "hunter2"', 'hunter2'],
    ['cat <<EOF > .env\nAPI_KEY=abcd\nEOF', 'abcd'], ['Server=a;Password=p@ss;Database=x', 'p@ss'], ['PASSWORD="$ecret1"', '$ecret1'],
    ['ftp://u:p@w:x@host/', 'p@w:x'], ['postgres://u:p/w?d@host/db', 'p/w?d'],
  ])('text is redacted: %s', (text, secret) => {
    expect(redact.text(text)).toBe(text.replaceAll(secret, made(text.includes('://') && text.includes('@host') ? 'url-password' : 'key', secret)))
  })

  test('JSON inside a string keeps its spacing, its numbers and its repeated keys', () => {
    const text = '{ "n": 1.0, "big": 12345678901234567890,\n  "password" : "x",  "password": "y" }\n{"z": 1e2}'
    expect(redact.text(text)).toBe(text.replace('"x"', `"${made('key', 'x')}"`).replace('"y"', `"${made('key', 'y')}"`))
  })

  test('private keys are masked, also when cut off; certificates stay', () => {
    const begin = `-----BEGIN PRIVATE ${'KEY'}-----`
    expect(redact.text(`${begin}\nAAAA\nBBBB`)).toMatch(/^\[redacted:private-key:\w+\]$/)
    expect(redact.text(`${begin}\n# AAAA\n * BBBB`)).toMatch(/^\[redacted:private-key:\w+\]$/)
    const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
    expect(redact.text(certificate)).toBe(certificate)
  })
})

describe('placeholders', () => {
  const old = '[redacted:cookie:1a2b3c4d]'
  const secret = 'S3cr3tValue'

  // biome-ignore format: text and the text that stays side by side
  test.each([
    [`Cookie: sid=${old}; session=${secret}`, `Cookie: sid=${old}; `],
    [`Cookie: ${old}; session=${secret}`, `Cookie: ${old}; `],
    [`password=${old}${secret}`, `password=${old}`],
    [`password="${old} ${secret}"`, `password="${old} `],
    [`the password is ${old}${secret}.`, `the password is ${old}`],
    [`run --password ${old}${secret} now`, `run --password ${old}`],
    [`<password>${old}${secret}</password>`, `<password>${old}`],
    [`https://ada:${old}${secret}@example.org`, 'https://ada:'],
    [`Authorization: Bearer ${old}${secret}`, `Authorization: Bearer ${old}`],
    [`password=[redacted:a:b]${secret}`, 'password='],
    [`password=${secret}${old}`, 'password='],
    [`password: ${secret}${old}`, 'password: '],
    [`export TOKEN=${secret}${old}`, 'export TOKEN='],
    [`tool --password=${secret}${old}`, 'tool --password='],
    [`tool --password ${secret}${old}`, 'tool --password '],
    [`api_key=${old},${secret}`, `api_key=${old},`],
    [`{"kty":"EC","d":"${old}${secret}"}`, `{"kty":"EC","d":"${old}`],
    [`db:5432:a:b:${old}${secret}`, `db:5432:a:b:${old}`],
    [`Cookie: a=b; x=${secret}=${old}`, 'Cookie: '],
    [`Cookie: a=b; ${secret}=${old}`, 'Cookie: '],
    [`Cookie: a=${old}; ${secret}=${old}`, `Cookie: a=${old}; `],
    [`password=[redacted:key:${secret}]`, 'password='],
    [`password: [redacted:key:1A2B3C4D]${secret}`, 'password: '],
    [`-----BEGIN PRIVATE ${'KEY'}-----\nAAAA\n${old}\n${secret}\n-----END PRIVATE ${'KEY'}-----`, ''],
    [`-----BEGIN PRIVATE ${'KEY'}-----\nAAAA\n[redacted:x:y]\n${secret}\n-----END PRIVATE ${'KEY'}-----`, ''],
    [`-----BEGIN PRIVATE ${'KEY'}-----\nAAAA\n${old}\n${secret}`, ''],
    [`-----BEGIN PRIVATE ${'KEY'}-----\n[redacted:nope:1a2b3c4d]\n${secret}`, ''],
  ])('a placeholder hides no secret beside it: %s', (text, before) => {
    const masked = redact.text(text)
    expect(masked).not.toContain(secret)
    expect(masked.startsWith(`${before}[redacted:`)).toBe(true)
    expect(redact.text(masked)).toBe(masked)
  })

  test.each([
    { password: `[redacted:x:${secret}]` },
    { password: `[redacted:key:${secret}]` },
    { credentials: `old ${old} new ${secret}` },
    { cookie: `${old}; session=${secret}` },
    { dsn: `${old} ${secret}` },
    { pass: `${old} ${secret}` },
    { body: JSON.stringify({ credentials: `old ${old} new ${secret}` }) },
  ])('a value under a secret key is masked around its placeholders: %j', (data) => {
    const masked = redact.value(data)
    expect(JSON.stringify(masked)).not.toContain(secret)
    if (JSON.stringify(data).includes(old)) expect(JSON.stringify(masked)).toContain(old)
    expect(redact.value(masked)).toBe(masked)
  })

  test.each([
    [{ pin: `${old} 1234` }, '1234'],
    [{ pin: `${old}1234` }, '1234'],
    [{ password: `${old}!@#$%^&*` }, '!@#$%^&*'],
  ])('a short value beside a placeholder is masked: %j', (data, rest) => {
    const masked = redact.value(data)
    expect(JSON.stringify(masked)).not.toContain(rest)
    expect(redact.value(masked)).toBe(masked)
  })

  test.each([
    `password=${old}, user=ada; api_key=${old}`,
    `connect(password=${old})`,
    `Cookie: sid=${old}; theme=${old}`,
    `postgres://app:${old}@db.internal/main`,
    `token [redacted:token:1a2b3c4d]/path and [redacted:google-api-key:1a2b3c4d]-suffix`,
    `Bearer ${old}, ${old} and password: ${old}`,
  ])('a text whose secrets are masked stays as it is: %s', (text) => {
    expect(redact.text(text)).toBe(text)
    expect(redact.value({ dsn: `postgres://app:${old}@db.internal/main`, authorization: `Bearer ${old}` })).toEqual({
      dsn: `postgres://app:${old}@db.internal/main`,
      authorization: `Bearer ${old}`,
    })
  })
})

describe('a text full of secrets', () => {
  // The block is masked first, and only then is the word behind it the value of the name.
  const hidden = 'zQm_mpFd'
  const line = `run --password -----BEGIN RSA PRIVATE ${'KEY-----'}_${hidden}\n`
  const dump = (count: number) => Array.from({ length: count }, (_, n) => `password=${tag(`${n}`)}x1\n`)

  test.each([
    ['alone', line],
    ['first', [line, ...dump(100)].join('')],
    ['in the middle', [...dump(100), line, ...dump(100)].join('')],
    ['last', [...dump(100), line].join('')],
    ['on every line', line.repeat(100)],
  ])('a secret behind another is found %s among repeated lines', (_, text) => {
    const masked = redact.text(text)
    expect(masked).not.toContain(hidden)
    expect(masked.split('\n').length).toBe(text.split('\n').length)
    expect(redact.text(masked)).toBe(masked)
  })

  test('equal secrets have equal tags and different secrets have different tags', () => {
    const masked = redact.text([...dump(100), ...dump(100)].join(''))
    expect(masked).toBe(Array.from({ length: 200 }, (_, n) => `password=${made('key', `${tag(`${n % 100}`)}x1`)}\n`).join(''))
  })
})

test('masking twice changes nothing, whatever the text', () => {
  const piece = fc.constantFrom(
    'password=',
    'password: ',
    '"password":"',
    '"',
    "'",
    ' ',
    '\n',
    '; ',
    'a1b2c3d4',
    github,
    'https://u:p@h ',
    'Cookie: a=b',
    'Authorization: Bearer abc123def',
    '[redacted:key:ab12cd34]',
    '[redacted:cookie:ab12cd34]; ',
    '[redacted:x:ab12]',
    '{',
    '}',
    ':',
    ',',
    '--token x1y2z3 ',
    '\\"',
    'the secret is hunter22 ',
    '<token>q1w2e3</token>',
    'sig=',
    '=',
    '@',
    '/',
    'api key: ',
    '[',
    ']',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const once = redact.text(pieces.join(''))
      expect(redact.text(once)).toBe(once)
      const wrapped = redact.value({ token: pieces.join('') })
      expect(redact.value(wrapped)).toEqual(wrapped)
    }),
    { numRuns: 3000, seed: 7 },
  )
})
