// Passwords with marks of code in them, wherever a text gives them a name.
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { redactor } from '../../src/redact/redactor.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { BASE62, type Chance, chance, LOWER, UPPER } from './chance.ts'

const redact = redactor({}, () => '00000000')
const COUNT = 400
const LEAST = 0.97
const MARKS = [...'.([{$']

/** 12 to 20 characters, and one to three of them marks of code, anywhere. */
function password(c: Chance, alphabet: string): string {
  const chars = [...c.chars(alphabet, 12 + c.int(9))]
  for (let n = 1 + c.int(3); n > 0; n--) chars[c.int(chars.length)] = c.pick(MARKS)
  return chars.join('')
}

type Write = (password: string) => unknown

// biome-ignore format: one row a place
const PLACES: Readonly<Record<string, Write>> = {
  'a query': (p) => `GET https://h.example/login?user=bob&password=${p}&lang=en`,
  'a query in JSON': (p) => ({ url: `https://h.example/login?password=${p}&lang=en` }),
  'a form body': (p) => `user=bob&password=${p}`,
  'the first field of a form body': (p) => `password=${p}&user=bob`,
  'a connection string': (p) => `Server=db1;Database=shop;User Id=sa;Password=${p};Encrypt=true`,
  'a field of a connection string alone': (p) => `Password=${p};`,
  'an option with =': (p) => `deploy --user bob --password=${p} --force`,
  'an option': (p) => `deploy --user bob --password ${p} --force`,
  'a value of helm': (p) => `helm upgrade app ./app --set db.password=${p} --wait`,
  'a literal of kubectl': (p) => `kubectl create secret generic app --from-literal=password=${p}`,
  'a variable before a command': (p) => `PGPASSWORD=${p} psql -h db`,
  'an exported variable': (p) => `export DB_PASSWORD=${p}`,
  'an INI file': (p) => `[db]\nuser = app\npassword = ${p}\nport = 5432\n`,
  'a YAML file': (p) => `db:\n  user: app\n  password: ${p}\n  port: 5432\n`,
  'a .env file': (p) => `MODE=fast\nDB_PASSWORD=${p}\nLEVEL=debug\n`,
  'a line with a capital': (p) => `Password: ${p}`,
  'a line in bold': (p) => `**Password:** ${p}`,
  'a sentence': (p) => `the password is ${p} and nothing else`,
  'the end of a sentence': (p) => `The password is ${p}`,
  'a sentence without a verb': (p) => `Log in with password ${p} and go on.`,
  'a sentence with quotes': (p) => `Use the password "${p}" to log in.`,
  'a header': (p) => `GET / HTTP/1.1\nX-Api-Key: ${p}\nAccept: */*`,
  'a header of curl': (p) => `curl -H 'X-Api-Key: ${p}' https://h.example`,
  'redis': (p) => `port 6379\nrequirepass ${p}\nappendonly yes`,
  'an address': (p) => `postgres://app:${p}@db.internal:5432/main`,
  'the user of curl': (p) => `curl -u bob:${p} https://h.example`,
  'the user of curl, in quotes': (p) => `curl -u bob:'${p}' https://h.example`,
  'a JSON value': (p) => ({ password: p }),
  'JSON text': (p) => JSON.stringify({ user: 'bob', password: p }),
  'an element': (p) => `<login><password>${p}</password></login>`,
  'an environment': (p) => `env:\n- name: DB_PASSWORD\n  value: ${p}\n- name: MODE\n  value: fast`,
  'Ansible': (p) => `ansible_become_pass: ${p}`,
  'the vault of Ansible': (p) => `vault_pass: ${p}`,
  'a short key': (p) => `db:\n  user: app\n  pass: ${p}\n`,
  'PowerShell': (p) => `ConvertTo-SecureString '${p}' -AsPlainText -Force`,
  'a here string': (p) => `gh auth login --with-token <<< ${p}`,
  'a constant of PHP': (p) => `define('DB_PASSWORD','${p}')`,
  'a pair': (p) => `requests.get(url, auth=("bob","${p}"))`,
}

/** Arguments of commands, as objects, as JSON text and in code. */
const ARGUMENTS: Readonly<Record<string, Write>> = Object.fromEntries([
  ...['--password', '--token', '--api-key', '--client-secret'].flatMap((flag): [string, Write][] => [
    [`the last argument, behind ${flag}`, (p) => ({ args: ['deploy', flag, p] })],
    [`an argument behind ${flag}`, (p) => ({ command: ['deploy', '--force', flag, p, '--wait', 'now'] })],
    [`an argument in JSON text, behind ${flag}`, (p) => JSON.stringify({ args: ['deploy', flag, p, 'now'] })],
    [`an argument in code, behind ${flag}`, (p) => `run(['deploy', '${flag}', '${p}'])`],
    [`an argument of a container, behind ${flag}`, (p) => `CMD ["app", "${flag}", "${p}", "-v"]`],
    [`an argument that begins with ${flag}=`, (p) => ({ args: ['deploy', `${flag}=${p}`, 'now'] })],
    [`an argument in JSON text that begins with ${flag}=`, (p) => JSON.stringify(['deploy', `${flag}=${p}`])],
  ]),
  ['the short option of a known tool', (p) => ['sshpass', '-p', p, 'ssh', 'db1']],
  ['the short option of a known tool, joined', (p) => ['mysql', '-u', 'root', `-p${p}`, 'shop']],
  ['the short option of a known tool in JSON text', (p) => JSON.stringify(['mysql', '-u', 'root', `-p${p}`, 'shop'])],
])

describe.each([
  ['of letters', LOWER + UPPER],
  ['of letters and digits', BASE62],
])('a password %s with marks of code', (_, alphabet) => {
  test.each(Object.entries({ ...PLACES, ...ARGUMENTS }))('is masked in %s at least 97 times in 100', (_place, write) => {
    const missed: string[] = []
    for (let n = 0; n < COUNT; n++) {
      const secret = password(chance(SEED * 1_000_003 + n), alphabet)
      if (JSON.stringify(redact.value(write(secret))).includes(secret)) missed.push(secret)
    }
    expect(1 - missed.length / COUNT, missed.join(' ')).toBeGreaterThanOrEqual(LEAST)
  })
})

test('streams show no password that the whole text masks', () => {
  const found: string[] = []
  for (const [n, [place, write]] of Object.entries({ ...PLACES, ...ARGUMENTS }).entries())
    for (let sample = 0; sample < rounds(2, 40); sample++) {
      const c = chance(SEED * 1_000_003 + n * 7919 + sample)
      const data = write(password(c, BASE62))
      const text = `It went on.\n${typeof data === 'string' ? data : JSON.stringify(data)}\nIt went on.\n`
      const stream = redact.stream({ portion: 1, context: limits.streamContextChars, most: limits.streamHeldMostChars })
      let out = ''
      for (let at = 0; at < text.length; ) {
        const size = 1 + c.int(c.pick([1, 3, 12]))
        stream.write(text.slice(at, at + size))
        out += stream.take()
        at += size
      }
      out += stream.end()
      if (out !== redact.text(text)) found.push(`${place}: ${out} instead of ${redact.text(text)}`)
    }
  expect(found).toEqual([])
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
  'Password=getPassword();',
  'Password: config.get(',
  'password: a.b.c',
  'password: vault:secret/db',
  'Password=vault:secret/db;',
  'let secret = hmacSha256(key, data)',
  'password = os.environ["DB_PASSWORD"]',
  'export DB_PASSWORD=$(vault read secret2)',
  'PGPASSWORD=$PG_PASSWORD_2 psql',
  'the password is getPassword(user2)',
  'creds = base64.b64encode(user_pass.encode())',
  'token=[a-f0-9]{48}',
  'tests:\n  pass: 12\n  fail: 0',
  'docker run -p 8080:80 app2',
])('%s is left as it is', (text) => {
  expect(redact.text(text)).toBe(text)
})

test.each([
  [['deploy', '--password', 'prompt', '--token', '$TOKEN']],
  [['docker', 'run', '-p', '8080:80', 'app2']],
  [['mysql', '-u', 'root', '-p', 'shop2']],
  [['node', '-p', 'process.version']],
  [['deploy', '--max-tokens', '4096', '--token', '--force']],
  [['--password-policy', 'strong2', '--token-file', '/run/token2']],
])('the arguments %j stay', (args) => {
  expect(redact.value({ args })).toEqual({ args })
  expect(redact.text(JSON.stringify({ args }))).toBe(JSON.stringify({ args }))
})
