// Composed forms: the text around a secret says what it is, and the secret itself has no shape.
import { BASE36, BASE62, BASE64, BASE64URL, type Chance, DIGITS, HEX } from './chance.ts'
import type { Family } from './families.ts'

const uuid = (c: Chance) => [8, 4, 4, 4, 12].map((n) => c.chars(HEX, n)).join('-')
const word = (c: Chance) => c.pick(['Sommer', 'tiger', 'blau', 'Kaffee', 'river', 'Quartz']) + c.chars(DIGITS, 3) + c.pick(['!', '_x', '+'])
const form = (name: string, make: (c: Chance) => string, dress: (secret: string) => string, keep: readonly string[] = []): Family => ({
  name,
  make,
  dress,
  keep,
})
const random = (alphabet: string, length: number) => (c: Chance) => c.chars(alphabet, length)
const encoded = (text: string) => encodeURIComponent(text)

// biome-ignore format: one row a form
export const FORMS: readonly Family[] = [
  form('encoded assignment', random(BASE62, 14), (s) => `redirect=%2Flogin%3Fpassword%3D${s}%26next%3Dhome`, ['redirect=%2Flogin%3Fpassword%3D', '%26next%3Dhome']),
  form('encoded json', random(BASE62, 14), (s) => `/cb?state=${encoded(`{"user":"bob","apiKey":"${s}","n":1}`)}&x=1`, ['/cb?state=', 'bob', '&x=1']),
  form('encoded header', random(BASE62, 30), (s) => `headers=${encoded(`Authorization: Bearer ${s}`)}`, ['headers=Authorization%3A%20Bearer%20']),
  form('encoded shape', (c) => `gh${'p_'}${c.chars(BASE62, 36)}`, (s) => `https://h.example/?next=https%3A%2F%2Fapi.example%2F%3Fid%3D${s}`, ['https://h.example/?next=']),
  { name: 'encoded key prefix', make: random(BASE62, 48), dress: (s) => `q=s${'k'}%2D${s}`, keep: ['q='] },
  { name: 'encoded web token padding', make: (c) => `${c.chars(BASE62, 40)}`, dress: (s) => `connection=Server%3Ddb1%3BPassword%3D${s}%3BEncrypt%3Dtrue`, keep: ['connection=Server%3Ddb1%3BPassword%3D', '%3BEncrypt%3Dtrue'] },
  form('jwk, rsa', random(BASE64URL, 342), (s) => JSON.stringify({ kty: 'RSA', n: 'AQAB-modulus', e: 'AQAB', d: s }), ['RSA', 'AQAB-modulus']),
  form('jwk, elliptic', random(BASE64URL, 43), (s) => JSON.stringify({ d: s, crv: 'P-256', kty: 'EC', kid: 'key-1' }), ['P-256', 'key-1']),
  form('jwk, symmetric', random(BASE64URL, 43), (s) => `{"kty":"oct","k":"${s}","alg":"HS256"}`, ['HS256']),
  form('teams webhook', (c) => `${c.chars(HEX, 32)}/${uuid(c)}`, (s) => `https://acme.webhook.office.com/webhookb2/0f3a1b2c-1111-4222-8333-444455556666@0f3a1b2c-1111-4222-8333-777788889999/IncomingWebhook/${s}`, ['https://acme.webhook.office.com/webhookb2/']),
  form('power automate', random(BASE64URL, 43), (s) => `https://prod-12.westus.logic.azure.com/workflows/ab12/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers&sv=1.0&sig=${s}`, ['logic.azure.com', 'sv=1.0&sig=']),
  form('zapier webhook', (c) => `${c.chars(DIGITS, 7)}/${c.chars(BASE36, 7)}`, (s) => `https://hooks.zapier.com/hooks/catch/${s}/`, ['https://hooks.zapier.com/hooks/catch/']),
  form('google signature', random(HEX, 256), (s) => `https://storage.googleapis.com/b/o.txt?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Expires=900&X-Goog-Signature=${s}`, ['X-Goog-Expires=900']),
  form('amazon signature', random(HEX, 64), (s) => `https://b.s3.amazonaws.com/o.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature=${s}`, ['X-Amz-Expires=900']),
  form('query key', random(BASE62, 32), (s) => `https://api.example.com/v1/geocode?q=Lisbon&key=${s}&lang=en`, ['q=Lisbon&key=', '&lang=en']),
  form('query code', (c) => `4/0A${c.chars(BASE64URL, 60)}`, (s) => `https://app.example.com/oauth/callback?code=${s}&state=xyz`, ['callback?code=', '&state=xyz']),
  form('function code', (c) => `${c.chars(BASE64URL, 54)}==`, (s) => `https://acme.azurewebsites.net/api/run?code=${s}`, ['https://acme.azurewebsites.net/api/run?code=']),
  form('pgpass', word, (s) => `db.internal:5432:shop:app:${s}`, ['db.internal:5432:shop:app:']),
  form('pgpass, wildcards', word, (s) => `*:*:*:postgres:${s}`, ['*:*:*:postgres:']),
  form('chpasswd', word, (s) => `echo 'deploy:${s}' | sudo chpasswd`, ["echo 'deploy:", 'chpasswd']),
  form('chpasswd, here string', word, (s) => `chpasswd <<< "root:${s}"`, ['chpasswd <<< "root:']),
  form('html input', word, (s) => `<input type="password" id="p1" value="${s}">`, ['<input type="password" id="p1" value="']),
  form('html input, other order', word, (s) => `<input value="${s}" name="pw" type="password"/>`, ['name="pw" type="password"']),
  form('xml setting', word, (s) => `<add key="DbPassword" value="${s}" />`, ['<add key="DbPassword" value="']),
  form('xml property', word, (s) => `<property name="connection.password" value="${s}"/>`, ['<property name="connection.password" value="']),
  form('xml property body', word, (s) => `<property name="hibernate.password">${s}</property>`, ['</property>']),
  form('xml attribute', word, (s) => `<server><id>nexus</id><login user="bob" password="${s}"/></server>`, ['user="bob" password="']),
  form('full-width colon', word, (s) => `密码：${s}`, ['密码：']),
  form('full-width colon, english', word, (s) => `password：${s}`, ['password：']),
  form('spaced colon', word, (s) => `password : ${s}`, ['password : ']),
  form('spaced equals', word, (s) => `db_password   =   ${s}`, ['db_password   =   ']),
  form('kubernetes secret', random(BASE64, 24), (s) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: db-main\ndata:\n  username: YWRtaW4=\n  dsn: ${s}\n`, ['kind: Secret', 'name: db-main']),
  form('kubernetes secret, data first', random(BASE64, 24), (s) => `apiVersion: v1\ndata:\n  tls.crt: ${s}\nkind: Secret\nmetadata:\n  name: db-main`, ['name: db-main']),
  form('kubernetes string data', word, (s) => `kind: Secret\nstringData:\n  admin: "${s}"\n---\nkind: ConfigMap\ndata:\n  mode: fast`, ['mode: fast']),
  form('kubernetes json', random(BASE64, 24), (s) => JSON.stringify({ kind: 'Secret', metadata: { name: 'db-main' }, data: { first: s } }), ['db-main', 'Secret']),
  form('session cookie value', random(BASE36, 32), (s) => `sessionid=${s}`, ['sessionid=']),
  form('netrc', word, (s) => `machine api.example.com login bob password ${s}`, ['machine api.example.com login bob password ']),
  form('curl user', word, (s) => `curl -u deploy:${s} https://git.example.com/api`, ['curl -u deploy:', 'https://git.example.com/api']),
  form('mysql flag', random(BASE62, 12), (s) => `mysql -h db -u app -p${s} shop`, ['mysql -h db -u app -p', ' shop']),
  form('npmrc', (c) => uuid(c), (s) => `//npm.example.com/:_authToken=${s}`, ['//npm.example.com/:_authToken=']),
  form('docker auth', random(BASE64, 32), (s) => JSON.stringify({ auths: { 'ghcr.io': { auth: s } } }), ['ghcr.io']),
  form('okta header', (c) => `00${c.chars(BASE64URL, 40)}`, (s) => `Authorization: SSWS ${s}`, ['Authorization: SSWS ']),
  form('digest header', random(HEX, 32), (s) => `Authorization: Digest username="bob", realm="x", response="${s}"`, ['Authorization: Digest ']),
  form('api key header', random(BASE62, 32), (s) => `X-Api-Key: ${s}`, ['X-Api-Key: ']),
  form('set-cookie header', random(BASE62, 40), (s) => `Set-Cookie: sid=${s}; Path=/; HttpOnly`, ['Set-Cookie: ']),
  form('multipart form', word, (s) => `Content-Disposition: form-data; name="password"\r\n\r\n${s}\r\n--x--`, ['--x--']),
  form('toml', word, (s) => `[database]\nhost = "db1"\npassword = "${s}"\n`, ['host = "db1"']),
  form('properties', word, (s) => `spring.datasource.username=app\nspring.datasource.password=${s}\n`, ['spring.datasource.username=app']),
  form('yaml anchor', word, (s) => `database:\n  host: db1\n  password: ${s}\n  port: 5432`, ['host: db1', 'port: 5432']),
  form('python keyword', word, (s) => `connect(host="db1", user="app", password="${s}")`, ['host="db1", user="app"']),
  form('terraform variable', word, (s) => `variable "db_password" {\n  default = "${s}"\n}`, ['variable "db_password"']),
  form('dockerfile', random(BASE62, 30), (s) => `FROM node:24\nENV API_TOKEN ${s}\nRUN npm ci`, ['FROM node:24', 'RUN npm ci']),
  form('spoken', word, (s) => `the admin password is ${s}, please rotate it`, ['the admin password is ', ', please rotate it']),
  form('snowflake url', random(BASE62, 16), (s) => `snowflake://app:${s}@acme.eu-central-1/db`, ['snowflake://app:', '@acme.eu-central-1/db']),
  form('cloudinary url', random(BASE64URL, 27), (s) => `cloudinary://874837483274837:${s}@acme`, ['cloudinary://874837483274837:', '@acme']),
]
