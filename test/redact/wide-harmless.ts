// Harmless text in which careless rules find secrets: the lines of this repository and its lock file, and what programs print.
import { readdirSync, readFileSync } from 'node:fs'
import { BASE36, BASE62, BASE64, BASE64URL, type Chance, DIGITS, HEX, LOWER } from './chance.ts'
import { fill } from './wide-families.ts'

const ROOT = new URL('../../', import.meta.url)
/** These pages and this code show secrets, or forms of them, on purpose. */
const ABOUT_SECRETS = /redact|secret|\.test\.ts$|errors\.md/

function textFiles(folder: string, end: RegExp): string[] {
  return readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((file) => end.test(file) && !ABOUT_SECRETS.test(file))
    .sort()
    .map((file) => `${folder}${file}`)
}

/** Every n-th line of the sources, the documentation, the lock file and a bundled library. */
export function realLines(every: number): string[] {
  const files = [
    ...textFiles('src/', /\.(ts|sql)$/),
    ...textFiles('docs/', /\.md$/),
    ...textFiles('examples/', /\.ts$/),
    'package-lock.json',
    'biome.json',
    'README.md',
    'STYLE.md',
  ]
  return files
    .flatMap((file) => readFileSync(new URL(file, ROOT), 'utf8').split('\n'))
    .filter((line, n) => line.trim() !== '' && n % every === 0)
}

const SUBJECTS = [
  'session: a lease is renewed',
  'fix token counting for long prompts',
  'docs: say how a password is reset',
  'bump js-tokens from 4.0.0 to 9.0.1',
  'memory: keys are sorted',
  'revert "auth: rotate the signing key"',
]
const NAMES = ['tokenizer', 'keyboard', 'passport', 'secretary', 'author', 'monkey', 'compass']

// biome-ignore format: one row a kind
export const HARMLESS: Readonly<Record<string, (c: Chance) => string>> = {
  'commit log': (c) => `${c.chars(HEX, 9)} ${c.pick(SUBJECTS)} (#${c.int(9000)})`,
  'full commit': (c) => `commit ${c.chars(HEX, 40)} (HEAD -> main, origin/main)`,
  hash: (c) => `${c.chars(HEX, c.pick([32, 40, 64, 128]))}  dist/${c.pick(NAMES)}-${c.int(9)}.${c.int(20)}.tar.gz`,
  'lock file': (c) => `    "integrity": "sha512-${c.chars(BASE64, 86)}==",`,
  'yarn lock': (c) => `  resolved "https://registry.yarnpkg.com/js-tokens/-/js-tokens-${c.int(9)}.0.0.tgz#${c.chars(HEX, 40)}"`,
  'go sum': (c) => `github.com/acme/${c.pick(NAMES)} v1.${c.int(30)}.0 h1:${c.chars(BASE64, 43)}=`,
  'cargo lock': (c) => `checksum = "${c.chars(HEX, 64)}"`,
  'pip hash': (c) => `    --hash=sha256:${c.chars(HEX, 64)} \\`,
  uuid: (c) => `${c.pick(['request', 'session', 'order', 'trace'])} ${fill('{uuid}', c)} took ${c.int(900)} ms`,
  image: (c) => `<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA${c.chars(BASE64, 200)}">`,
  'image line': (c) => c.chars(BASE64, 76),
  id: (c) => `${c.pick(['msg', 'run', 'evt', 'file', 'call', 'job', 'node'])}_${c.chars(BASE62, c.pick([16, 20, 24]))}`,
  ulid: (c) => `${c.pick(NAMES)} 01J${c.chars('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 23)} done`,
  minified: (c) => `function ${c.chars(LOWER, 1)}(e,t){var n=${c.int(99)},r=e.${c.pick(NAMES)}||t["${c.pick(NAMES)}"];return r&&r.key===n?{token:r.type,value:e.slice(${c.int(9)})}:null}`,
  'minified import': (c) => `import{${c.chars(LOWER, 1)} as ${c.chars(LOWER, 2)}}from"./chunk-${c.chars(BASE62, 8)}.js";export const key=${c.int(9)},tokens=[];`,
  'css class': (c) => `.${c.pick(NAMES)}_${c.chars(BASE36, 6)}__${c.chars(BASE62, 5)} { margin: ${c.int(40)}px }`,
  'test name': (c) => `✓ ${c.pick(NAMES)} > a password of ${c.int(30)} characters is accepted (${c.int(90)} ms)`,
  'http line': (c) => `${c.int(255)}.${c.int(255)}.0.1 - - "GET /assets/${c.pick(NAMES)}.${c.chars(HEX, 8)}.js HTTP/1.1" 200 ${c.int(90000)}`,
  'sql row': (c) => `insert into ${c.pick(NAMES)}s values ('${fill('{uuid}', c)}', ${c.int(99)}, 'Basic plan', '2026-0${c.int(8) + 1}-11')`,
  pairs: (c) => `translate("${c.pick(NAMES)}", "${c.pick(NAMES)}${c.int(9)}"); pad(("${c.chars(LOWER, 4)}", "${c.chars(LOWER, 6)}"))`,
  'login in code': (c) => `await login("${c.pick(['bob', 'admin'])}", password${c.int(9)})`,
  table: (c) => `| ${c.pick(NAMES)} | ${c.int(999)} | \`v${c.int(9)}.${c.int(9)}.${c.int(9)}\` |`,
  'table of options': (c) => `| option | default |\n|---|---|\n| \`password\` | none |\n| \`token\` | required |\n| \`retries\` | ${c.int(9)} |`,
  'table of counts': (c) => `| token | count |\n|---|---|\n| the | ${c.int(999)} |\n| quick1 | ${c.int(99)} |`,
  spanish: (c) => `La clave del éxito es la paciencia; la contraseña es obligatoria desde la versión ${c.int(9)}.`,
  german: (c) => `Das Passwort ist zu kurz: es hat nur ${c.int(7)} Zeichen. Das Kennwort ist abgelaufen.`,
  french: (c) => `Le mot de passe est obligatoire et compte ${c.int(20)} caractères.`,
  'shell options': (c) => `tar -P -czf out-${c.int(99)}.tgz notes && cp -p a.txt b.txt && zip -r out.zip notes && 7z x out.7z`,
  'samba options': (c) => `smbclient -L files -U bob -c ls; rpcclient -N -U "" dc${c.int(9)}`,
  result: (c) => `{"result":"${c.pick(['ok', 'passed in 3 s', 'order4711', fill('{uuid}', c)])}","length":${c.int(99)}}`,
  'terraform plan': (c) => `  ~ result = (sensitive value) # random_password.db will be updated (${c.int(9)} of 9)`,
  'chinese prose': (c) => `第${c.int(99)}步：输入密码，然后单击“登录”。密码：必填`,
  'phone and order': (c) => `order ${c.chars(DIGITS, 10)}:${c.int(99)}, phone +49 170 ${c.chars(DIGITS, 7)}`,
  cursor: (c) => `GET /v1/items?cursor=${c.chars(BASE64URL, 40)}&limit=20`,
  echo: (c) => `echo "build ${c.int(999)} of ${c.pick(NAMES)}" | tee -a build.log && gh auth status`,
}
