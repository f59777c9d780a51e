// Secrets behind emphasis, as models write them in Markdown and HTML: in one text, in a stream, and what only looks like one.
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { redactor } from '../../src/redact/redactor.ts'

const tag = (secret: string) => createHmac('sha256', 'emphasis').update(secret).digest('hex').slice(0, 8)
const redact = redactor({}, tag)
const SECRET = 'Tr0ub4dor3xyzAbC9'
const MASK = `[redacted:key:${tag(SECRET)}]`
const BOUNDS = { portion: 1, context: limits.streamContextChars, most: limits.streamHeldMostChars }

function streamed(pieces: Iterable<string>): string {
  const stream = redact.stream(BOUNDS)
  let out = ''
  for (const piece of pieces) {
    stream.write(piece)
    out += stream.take()
  }
  return out + stream.end()
}

describe.each([
  '**Password:** {}',
  '**Password**: {}',
  '**Password**: `{}`',
  '**Password:** `{}`',
  '**Password:** **{}**',
  '**Password:** **`{}`**',
  '**Password:** _{}_',
  '***Password:*** {}',
  '**`password`**: `{}`',
  '`password`: {}',
  '**Password** = {}',
  '**PASSWORD**=`{}`',
  '- **API key**: {}',
  '* **API key:** {}',
  '1. **Client secret** : {}',
  '> **Token:** {}',
  '__password:__ {}',
  '__API key__: {}',
  '_API key_: {}',
  '*password:* {}',
  '*API key*: {}',
  '**密码：** {}',
  '<b>Password:</b> {}',
  '<b>Password</b>: {}',
  '<B>Password </B>: {}',
  '<strong>API key</strong>: {}',
  '<li><strong>API key:</strong> <code>{}</code></li>',
  '<p><span class="k">Password</span>: <em>{}</em></p>',
  '<b>Password:</b><br/>{}',
  '<tr><th>Password:</th><td>{}</td></tr>',
  '<strong><code>password</code></strong>: <b><code>{}</code></b>',
  'The **password** is {}',
  'The `password` is `{}`',
  'The <b>password</b> is <code>{}</code>',
  'The password is **`{}`**',
  'The password is **{}**',
])('%s', (form) => {
  const [before = '', after = ''] = form.split('{}')

  test('is masked where it stands', () => {
    for (const [open, close] of [
      ['', ''],
      ['Here is what you need.\n', '\nKeep it safe.'],
      ['Use this: ', ' from today on.'],
    ]) {
      const text = `${open}${before}${SECRET}${after}${close}`
      const masked = `${open}${before}${MASK}${after}${close}`
      expect(redact.text(text)).toBe(masked)
      expect(redact.text(masked)).toBe(masked)
      expect(JSON.parse(redact.text(JSON.stringify({ body: text })))).toEqual({ body: masked })
      const nested = JSON.parse(redact.text(JSON.stringify({ body: JSON.stringify({ output: text }) })))
      expect(JSON.parse(nested.body)).toEqual({ output: masked })
    }
  })

  test('is masked in a stream, at whatever place it is cut', () => {
    const text = `Here you are.\n${before}${SECRET}${after}\nKeep it safe.`
    expect(streamed(text)).not.toContain(SECRET)
    expect(streamed(text)).toBe(redact.text(text))
    for (let at = 0; at <= text.length; at++) expect(streamed([text.slice(0, at), text.slice(at)])).toBe(redact.text(text))
  })
})

test('the data of a part is masked by its type', () => {
  const part = { type: 'data-password', data: 'swordfish' }
  expect(redact.value(part)).not.toHaveProperty('data', 'swordfish')
  expect(redact.text(JSON.stringify(part))).not.toContain('swordfish')
  expect(streamed(JSON.stringify(part))).not.toContain('swordfish')
  for (const type of ['data-token', 'data-password-policy', 'password'])
    expect(redact.value({ type, data: 'swordfish' })).toEqual({ type, data: 'swordfish' })
})

test('a plain word behind emphasis is a password where it is one without emphasis', () => {
  expect(redact.text('**password:** swordfish\n')).not.toContain('swordfish')
  expect(redact.text('**password**: `correct horse`')).not.toContain('horse')
})

test.each([
  '**Password:** required',
  '**Password:** **required**',
  'The password is **required**',
  'The password is **optional** here',
  '**Password:** at least 8 characters',
  '**Password policy:** version2',
  '**Passwords** are kept in 1Password.',
  'The **token limit** is 128k',
  '**Token:** ****',
  '**Token:** `$TOKEN`',
  '**Token budget:** 4000tokens2',
  '<b>Password:</b> <input type="password" name="pw2">',
  '<b>Password:</b> at least 8',
  '<code>token</code>: string',
  '- **`token`**: `string`',
  'token *= 2',
  'token*=scale2',
  'token **= a1b2c3',
  '2 ** token * a1b2c3',
  'Array<Token> = tokens2',
  'const token: Promise<Token> = load2fa()',
  ' * token: the opaque2 position',
  ' * password: hashed',
])('%s is left as it is', (text) => {
  expect(redact.text(text)).toBe(text)
  expect(streamed(text)).toBe(text)
})
