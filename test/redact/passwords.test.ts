// Passwords with marks of code in them, in places where no code can stand.
import { expect, test } from 'vitest'
import { redactor } from '../../src/redact/redactor.ts'
import { BASE62, chance, DIGITS } from './chance.ts'

const redact = redactor({}, () => '00000000')
const COUNT = 400

// biome-ignore format: one row a place
test.each<readonly [string, (password: string) => unknown]>([
  ['a query', (p) => `GET https://h.example/login?user=bob&password=${p}&lang=en`],
  ['a query in JSON', (p) => ({ url: `https://h.example/login?password=${p}&lang=en` })],
  ['a form body', (p) => `user=bob&password=${p}`],
  ['the first field of a form body', (p) => `password=${p}&user=bob`],
  ['a connection string', (p) => `Server=db1;Database=shop;User Id=sa;Password=${p};Encrypt=true`],
  ['an option with =', (p) => `deploy --user bob --password=${p} --force`],
  ['an option', (p) => `deploy --user bob --password ${p} --force`],
  ['a header', (p) => `GET / HTTP/1.1\nX-Api-Key: ${p}\nAccept: */*`],
  ['a header of curl', (p) => `curl -H 'X-Api-Key: ${p}' https://h.example`],
  ['redis', (p) => `port 6379\nrequirepass ${p}\nappendonly yes`],
  ['an address', (p) => `postgres://app:${p}@db.internal:5432/main`],
  ['the user of curl', (p) => `curl -u bob:${p} https://h.example`],
  ['the user of curl, in quotes', (p) => `curl -u bob:'${p}' https://h.example`],
  ['a JSON value', (p) => ({ password: p })],
  ['JSON text', (p) => JSON.stringify({ user: 'bob', password: p })],
  ['an element', (p) => `<login><password>${p}</password></login>`],
  ['an environment', (p) => `env:\n- name: DB_PASSWORD\n  value: ${p}\n- name: MODE\n  value: fast`],
])('a password with marks of code is masked in %s', (_, write) => {
  const missed: string[] = []
  for (let n = 0; n < COUNT; n++) {
    const c = chance(n + 1)
    const mark = () => c.pick([...'.([{$'])
    const password = `${c.chars(BASE62, 2 + c.int(4))}${mark()}${c.chars(BASE62, 1 + c.int(4))}${mark()}${c.chars(BASE62, 3)}${c.chars(DIGITS, 1)}`
    if (JSON.stringify(redact.value(write(password))).includes(password)) missed.push(password)
  }
  expect(missed).toEqual([])
})

test.each<readonly [string, (password: string) => string]>([
  ['a sentence', (p) => `the password is ${p} and nothing else`],
  ['an option', (p) => `deploy --password ${p} --force`],
])('a random password of 20 characters is masked in %s at least 995 times in 1,000', (_, write) => {
  let missed = 0
  for (let n = 0; n < 4000; n++) {
    const password = chance(n + 1).chars(`${BASE62}-_`, 20)
    if (redact.text(write(password)).includes(password)) missed++
  }
  expect(missed / 4000).toBeLessThanOrEqual(0.005)
})

test.each([
  'const password = config.get("x"), token=settings.token',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the look-alike is a template's own text
  'fetch(`https://h.example/?token=${token}&x=1`)',
  'https://h.example/login?password=$PASSWORD&x=1',
  'password=getPassword(user)',
  'a=1;password=getPassword(user);b=2',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the look-alike is a template's own text
  'deploy --password=$DB_PASSWORD --token ${TOKEN} --secret $(cat secret.txt)',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the look-alike is a template's own text
  'postgres://app:${PASSWORD}@db/main, postgres://app:{password}@db/main, postgres://app:<password>@db/main',
  'curl -H "X-Api-Key: $API_KEY" https://h.example',
  "headers: { 'X-Api-Key': config.apiKey2 }",
  'X-Api-Key: {{api_key}}',
  'Server=db1;User Id=sa;Password={password};Encrypt=true',
  '<Token>{token.value}</Token>',
  'set requirepass in the configuration',
])('%s is left as it is', (text) => {
  expect(redact.text(text)).toBe(text)
})
