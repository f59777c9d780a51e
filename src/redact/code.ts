// Tells code from passwords by the words in a value: `config.get(` and `users[0].password` are made of words, `k(Tq.Xw2` is not.

const RUN = /[A-Za-z0-9]+/g
/** Words of camel case, words in capitals, and numbers. */
const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g
/** Words with a digit in them, or behind them, that names are full of. */
const NUMBERED =
  /(?:[Oo]?[Aa]uth|[Bb]ase|[Ss]ha|SHA|[Mm]d|MD|[Uu]tf|UTF|[Aa]es|AES|[Rr]sa|RSA|ec|s|x|v|k|p|http|ipv|web|log|int|uint|float|rfc|i|l|b|es|h|r|bcrypt|argon)\d{1,4}s?(?=[A-Z_\W]|$)|\d[dD](?![a-z])|b(?:16|32|64|85)|(?:ed|x|curve)25519|\$\d|\bk(?=[A-Z][a-z]{2})/g
// biome-ignore format: a list of words is read in lines, not in a column
const SHORT: ReadonlySet<string> = new Set([
  'id', 'db', 'is', 'to', 'of', 'in', 'by', 'on', 'at', 'as', 'or', 'my', 'no', 'up', 'ok', 'ip', 'os', 'io', 'ui', 'ts', 'js', 'fs', 'go', 'it', 'do', 're', 'pw', 'pk', 'tx',
  'rx', 'fn', 'el', 'cb', 'ws', 'pg', 'ns', 'gh', 'md', 'ca', 'us', 'eu', 'pr', 'cn', 'vm', 'gl',
  'ctx', 'cfg', 'str', 'pwd', 'src', 'tmp', 'mgr', 'pkg', 'cmd', 'msg', 'svc', 'ptr', 'btn', 'jwt', 'tls', 'ssh', 'ssl', 'html', 'http', 'https', 'xml', 'sql', 'rsa', 'dns',
  'css', 'cls', 'psk', 'npm', 'gcp', 'grpc', 'std', 'rds', 'tcp', 'udp', 'ptr', 'val', 'obj', 'arr', 'txt', 'dst', 'prv', 'pvt', 'ldap', 'smtp', 'imap', 'mysql', 'pgsql', 'ftp', 'sftp',
  'crypt', 'bcrypt', 'scrypt', 'cvv', 'csrf', 'xsrf', 'kms', 'llm', 'gpg', 'pgp', 'vpn', 'hw', 'sdk', 'fmt', 'printf', 'sprintf', 'dll', 'cf', 'sec',  'strncpy', 'strcmp', 'gtk', 'wpa', 'mqtt', 'nth',
])

/** How far a value is from being made of words. About 0 for a name in code, and one for every three characters of a random password. */
function oddness(value: string): number {
  let odd = 0
  let letters = 0
  for (const [run] of value.replace(NUMBERED, ' ').matchAll(RUN)) {
    if (run.length === 1) {
      odd += run > '9' ? 0.25 : 0
      letters++
      continue
    }
    if (run === run.toUpperCase() && /^[A-Z]+\d{0,2}$/.test(run)) {
      letters += run.length
      odd += run.length === 2 ? 0.3 : 0
      continue
    }
    let before = ''
    for (const hit of run.matchAll(PART)) {
      const part = hit[0]
      const last = hit.index + part.length === run.length
      if (part < ':') odd += hit.index === 0 ? (last ? (part.length > 4 ? 1 : 0) : 1.5) : last && part.length <= 2 ? 0.3 : 1.5
      else {
        letters += part.length
        odd += partOdd(part, before === '' && last, last)
      }
      before = part
    }
  }
  return odd - letters / 16
}

const VOWEL = /[aeiouy]/i
/** No word has them, but for `length` and the like. */
const CLUSTER =
  /[bcdfghjklmnpqrstvwxz]{5}|(?!ngth|ngst|ghts|tchs|ckst|html|ttps|dths|lnth|chst|schl|chts|rstr|nstr|mpts|ngsc|ntdb|ckpr|sswr)[bcdfghjklmnpqrstvwxz]{4}|jj|vv|[xjq][bcdfghjkmnqrsvwxz]|[bcdfghjkmpqtvwxz][jqx]/i

function partOdd(part: string, whole: boolean, last: boolean): number {
  if (SHORT.has(part.toLowerCase())) return 0
  if (part.length === 1) return 1
  if (part.length === 2) return whole ? 0.3 : 1
  if (part === part.toUpperCase()) return last && part.length > 4 ? 1 : 0.5
  return CLUSTER.test(part) || !VOWEL.test(part) ? 1 : 0
}

/** Camel case, dots and the bracket of a call: most code ends here. */
const CAMEL = /^[a-z]{3,20}(?:[A-Z][a-z]{2,20}){0,8}(?:\.[a-z]{3,20}(?:[A-Z][a-z]{2,20}){0,8}){0,4}[([]?$/
/** A bracket that closes, or the word behind one, cannot touch a word in code. */
const TORN = /[)\]}][A-Za-z0-9_$]|\$[^A-Za-z_{(\d]|\$$|[A-Za-z0-9]\$(?![{\d])/
/** A class of characters, as in the pattern of a token. */
const PATTERN = /\[\^?(?:a-[fz]|A-[FZ]|0-9)/
const LONGEST = 256
const ODD = 0.75

/** Whether a value could be a part of code, by its words. Only the beginning of a long one is read. */
export function wordy(value: string): boolean {
  const read = value.length > LONGEST ? value.slice(0, LONGEST) : value
  return CAMEL.test(read) || PATTERN.test(read) || (!TORN.test(read) && oddness(read) < ODD)
}

/** Whether letters of both cases, and marks of code, are mixed as in no word and no name. */
export function jumbled(value: string): boolean {
  return (
    value.length >= 10 &&
    value.length <= LONGEST &&
    /^[A-Za-z0-9.([{$)\]}_]+$/.test(value) &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value) &&
    oddness(value) >= ODD
  )
}
