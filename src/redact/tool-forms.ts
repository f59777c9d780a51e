// Finds secrets in the forms of single tools and languages: a variable of Terraform, a password that `echo` pipes into a login, the code of
// a wireless network, `smbclient -U user%…` and `la contraseña es …`.
import type { KeyJudge } from './keys.ts'
import { absentWord, passwordLike } from './looks.ts'
import type { Span } from './spans.ts'
import { ASSIGN, AT, BRACE, COMMAND, mentions, PASS, PERCENT, PIPE, QUOTE as QUOTED, type Rare, rare, rarely, SLASH } from './survey.ts'
import type { Undecided } from './undecided.ts'

interface Form {
  /** Every text of the form contains this. */
  readonly mark: Rare
  /** Every text of the form has one of these traits, too. */
  readonly traits?: number
  /** The text before the secret. The group `name` in it must name a secret. */
  readonly before: string
  readonly secret: string
  /** Text behind the secret that makes it one, and the beginnings of it. */
  readonly after?: readonly [string, string]
  /** The mark stands behind the secret, so a stream does not wait for it. */
  readonly early?: boolean
  /** The secret must look like a password, because a word of a sentence may stand there. */
  readonly like?: boolean
}

const SPACE = String.raw`\s`
const QUOTE = String.raw`\\{0,7}["']`
const LOGIN = '--password-stdin|--with-token|auth login'
const PIPED: readonly [string, string] = [
  String.raw`(?:${QUOTE})?\s{0,4}\|\s{0,4}[^\n|]{0,80}?(?:${LOGIN})`,
  String.raw`(?:${QUOTE})?\s{0,4}(?:\|[^\n|]{0,100})?`,
]
const WORD = String.raw`[^\s"'\\]{3,128}`
const SPOKEN = `["'“«]?`

// biome-ignore format: one row a form
const FORMS: readonly Form[] = [
  { mark: rare('variable', SPACE), traits: BRACE, before: String.raw`\bvariable\s{1,4}${QUOTE}(?<name>[\w-]{1,64})${QUOTE}\s{0,4}\{[^{}]{0,400}?\bdefault\s{0,16}=\s{0,4}${QUOTE}`, secret: String.raw`[^"\\\n]{1,512}` },
  { mark: rare('login', String.raw`\b`), traits: PIPE, early: true, before: String.raw`\b(?:echo\s{1,4}(?:-n\s{1,4})?|printf\s{1,4}(?:${QUOTE}?%s(?:\\{1,8}n)?${QUOTE}?\s{1,4})?)(?:${QUOTE})?`, secret: String.raw`[^\s"'|\\]{4,256}`, after: PIPED },
  { mark: rarely('-SecureString'), traits: QUOTED, before: String.raw`\bConvertTo-SecureString\s{1,4}(?:-(?:String|AsPlainText|Force)\s{1,4}){0,3}(?:${QUOTE})`, secret: String.raw`[^"'\\\n]{1,256}` },
  { mark: rarely('<<<'), traits: COMMAND, before: String.raw`(?:${LOGIN})(?:[ \t]{1,4}[^\s<|;]{1,60}){0,4}\s{0,4}<<<\s{0,4}(?:${QUOTE})?`, secret: String.raw`[^\s"'\\]{4,256}` },
  { mark: rarely('WIFI:'), traits: ASSIGN, before: String.raw`\bWIFI:(?:[A-OQ-Z]:[^;\s]{0,64};){0,6}P:`, secret: String.raw`(?:\\[;:,\\]|[^;\s"'\\]){1,128}` },
  { mark: rarely('Password'), traits: QUOTED, before: String.raw`\b(?:(?:store|key)Password\s{1,4}|(?:set|with)\w{0,24}Password\(\s{0,4})${QUOTE}`, secret: String.raw`[^"'\\\n]{1,128}` },
  { mark: rare('htpasswd', SPACE), traits: PASS, before: String.raw`\bhtpasswd\s{1,4}-\w{0,4}b\w{0,4}\s{1,4}\S{1,128}\s{1,4}[\w.@-]{1,64}\s{1,4}(?:${QUOTE})?`, secret: WORD },
  { mark: rare('nmcli', SPACE), traits: PASS, before: String.raw`\bnmcli\s[^\n|;]{0,120}?\spassword\s{1,4}(?:${QUOTE})?`, secret: WORD },
  { mark: rarely('-U'), traits: PERCENT, before: String.raw`\s-U\s{0,4}(?:${QUOTE})?(?:[\w.-]{1,64}[\\/]{1,8})?[\w.-]{1,64}%`, secret: WORD },
  { mark: rarely('qlplus'), traits: AT, before: String.raw`\bsqlplus\s{1,4}(?:-\w{1,8}\s{1,4}){0,2}[\w.]{1,64}/(?:${QUOTE})?`, secret: String.raw`[^\s"'\\@/]{3,64}`, after: [`(?:${QUOTE})?@`, `(?:${QUOTE})?`] },
  { mark: rare('cmdkey', SPACE), traits: PASS, before: String.raw`\bcmdkey\s[^\n|;]{0,200}?/pass:(?:${QUOTE})?`, secret: WORD },
  { mark: rarely('/p:'), traits: SLASH, before: String.raw`freerdp\s[^\n|;]{0,200}?\s/p:(?:${QUOTE})?`, secret: WORD },
  { mark: rarely('/user:'), traits: SLASH, before: String.raw`\bnet use\s[^\n|;]{0,160}?/user:\S{1,64}\s{1,4}(?:${QUOTE})?`, secret: String.raw`[^\s"'\\/][^\s"'\\]{3,128}` },
  { mark: rarely('ontrase', /ñ/), before: String.raw`\b[Cc]ontrase[ñn]as?(?:\s{1,4}[^\s:.,]{1,24}){0,4}?\s{1,4}(?:es|era|será)[ \t:]{1,4}${SPOKEN}`, secret: WORD, like: true },
  { mark: rare('lave', SPACE), before: String.raw`\b[Cc]lave(?:\s{1,4}[^\s:.,]{1,24}){0,4}?\s{1,4}(?:es|era|será)[ \t:]{1,4}${SPOKEN}`, secret: WORD, like: true },
  { mark: rarely('enha', /é/), before: String.raw`\b[Ss]enha(?:\s{1,4}[^\s:.,]{1,24}){0,4}?\s{1,4}(?:é|era|será)[ \t:]{1,4}${SPOKEN}`, secret: WORD, like: true },
]

const RULES = FORMS.map(({ mark, traits = ~0, before, secret, after = ['', ''], like = false, early = false }) => ({
  early,
  mark,
  traits,
  like,
  whole: new RegExp(`(?<before>${before})(?<secret>${secret})${after[0]}`, 'g'),
  begun: new RegExp(`(?<before>${before})(?:${secret.replace(/\{\d,(?=\d+\}$)/, '{0,')}${after[1]})$`),
}))
const LONGEST = 1200

export function toolSpans(text: string, judge: KeyJudge, spans: Span[], here: number, undecided?: Undecided): void {
  for (const { mark, traits, like, early, whole, begun } of RULES) {
    const open = early && undecided !== undefined
    if ((traits & here) === 0 || !(open || mentions(text, mark))) continue
    if (undecided !== undefined) {
      const from = Math.max(0, text.length - LONGEST)
      const hit = begun.exec(text.slice(from))
      if (hit !== null && named(hit, judge)) undecided(from + hit.index + (hit.groups?.before ?? '').length)
    }
    for (const hit of text.matchAll(whole)) {
      const { before = '', secret = '' } = hit.groups ?? {}
      const start = hit.index + before.length
      if (named(hit, judge) && !absentWord(secret) && (!like || passwordLike(secret.replace(/[.,;:!?]+$/, ''))))
        spans.push({ start, end: start + secret.length, kind: 'key' })
    }
  }
}

function named(hit: RegExpExecArray, judge: KeyJudge): boolean {
  const name = hit.groups?.name
  return name === undefined || judge(name) === 'all' || judge(name) === 'text'
}
