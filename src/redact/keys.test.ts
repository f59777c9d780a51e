// Which keys name a secret, and which only look as if they did.
import { expect, test } from 'vitest'
import { keyJudge, keyWords } from './keys.ts'

const judge = keyJudge()

test('a key is split into words however it is written', () => {
  for (const key of ['apiKey', 'api_key', 'API_KEY', 'api-key', 'APIKey', 'api.key', 'Api Key', 'apiKey2'])
    expect(keyWords(key)).toEqual(['api', 'key'])
  expect(keyWords('XMLHttpRequestToken')).toEqual(['xml', 'http', 'request', 'token'])
  expect(keyWords('contraseña')).toEqual(['contrasena'])
})

test.each(
  'password passwd pwd passphrase DB_PASSWORD userPassword dbpassword MYSQL_PWD smtp_pass password_hash newPassword passwordConfirmation secret clientSecret webhook_secret SECRET_KEY_BASE apikey x-api-key OPENAI_API_KEY openaiKey accessToken refreshToken sessionToken csrf-token authToken _authToken idToken bearerToken privateKey signing_key encryptionKey AWS_SECRET_ACCESS_KEY accessKey AccountKey SharedAccessKey connectionString credential credentials authorization Proxy-Authorization cookie Set-Cookie otp pinCode pincode cvv seedPhrase contraseña'.split(
    ' ',
  ),
)('the key %s is secret', (key) => {
  expect(judge(key)).not.toBe('none')
})

test.each(
  'prompt_tokens completionTokens max_tokens token_count tokenBudget tokenizer tokenType token_type cookie_consent cookiePolicy password_policy passwordLength passwordResetUrl secretary secret_santa secretName keyboard monkey public_key publicKey primary_key foreign_key key keys cache_key idempotencyKey authorizationUrl author authorized credentialType has_password isSecret next_page_token pageToken continuationToken sessionId session_id access_key_id private_key_id tokenExpiresAt password_changed_at apiKeyId pinned opinion bypass compass tokensUsed secretKeyRef passwordless signature proof salt nonce hash digest'.split(
    ' ',
  ),
)('the key %s is not secret', (key) => {
  expect(judge(key)).toBe('none')
})
