// Finds secrets in the forms of single tools: a variable of Terraform, a password that `echo` pipes into a login, the code of a wireless
// network and a key store of Gradle.
import type { KeyJudge } from './keys.ts'
import { absentWord } from './looks.ts'
import type { Span } from './spans.ts'
import { BRACE, mentions, PIPE, type Rare, rare } from './survey.ts'
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
}

const SPACE = String.raw`\s`
const QUOTE = String.raw`\\{0,7}["']`

// biome-ignore format: one row a form
const FORMS: readonly Form[] = [
  { mark: rare('variable', SPACE), traits: BRACE, before: String.raw`\bvariable\s{1,4}${QUOTE}(?<name>[\w-]{1,64})${QUOTE}\s{0,4}\{[^{}]{0,400}?\bdefault\s{0,16}=\s{0,4}${QUOTE}`, secret: String.raw`[^"\\\n]{1,512}` },
  { mark: rare('echo', SPACE), traits: PIPE, before: String.raw`\becho\s{1,4}(?:-n\s{1,4})?(?:${QUOTE})?`, secret: String.raw`[^\s"'|$\\]{4,256}`,
    after: [String.raw`(?:${QUOTE})?\s{0,4}\|\s{0,4}[^\n|]{0,80}?(?:--password-stdin|--with-token|auth login)`, String.raw`(?:${QUOTE})?\s{0,4}(?:\|[^\n|]{0,100})?`] },
  { mark: rare('WIFI:', ''), before: String.raw`\bWIFI:(?:[A-OQ-Z]:[^;\s]{0,64};){0,6}P:`, secret: String.raw`(?:\\[;:,\\]|[^;\s"'\\]){1,128}` },
  { mark: rare('Password', SPACE), before: String.raw`\b(?:store|key)Password\s{1,4}${QUOTE}`, secret: String.raw`[^"'\\\n]{1,128}` },
]

const RULES = FORMS.map(({ mark, traits = ~0, before, secret, after = ['', ''] }) => ({
  mark,
  traits,
  whole: new RegExp(`(?<before>${before})(?<secret>${secret})${after[0]}`, 'g'),
  begun: new RegExp(`(?<before>${before})(?:${secret.replace(/\{\d,/, '{0,')}${after[1]})$`),
}))
const LONGEST = 1200

export function toolSpans(text: string, judge: KeyJudge, spans: Span[], here: number, undecided?: Undecided): void {
  for (const { mark, traits, whole, begun } of RULES) {
    if ((traits & here) === 0 || !mentions(text, mark)) continue
    if (undecided !== undefined) {
      const from = Math.max(0, text.length - LONGEST)
      const hit = begun.exec(text.slice(from))
      if (hit !== null && named(hit, judge)) undecided(from + hit.index + (hit.groups?.before ?? '').length)
    }
    for (const hit of text.matchAll(whole)) {
      const { before = '', secret = '' } = hit.groups ?? {}
      const start = hit.index + before.length
      if (named(hit, judge) && !absentWord(secret)) spans.push({ start, end: start + secret.length, kind: 'key' })
    }
  }
}

function named(hit: RegExpExecArray, judge: KeyJudge): boolean {
  const name = hit.groups?.name
  return name === undefined || judge(name) === 'all' || judge(name) === 'text'
}
