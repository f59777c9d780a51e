// Reading TypeScript well enough to check it: what a file imports, what it says as text, and what is left when text and comments
// are taken away.

export interface Code {
  /** The code with comments removed and every text emptied. */
  readonly bare: string
  /** Texts between quotes or backticks, without substitutions. */
  readonly texts: readonly string[]
}

/** Knows strings, templates, comments and regular expressions; nothing else of the language matters here. */
export function readCode(source: string): Code {
  const texts: string[] = []
  let bare = ''
  // A '}' closes either a block or the substitution of a template; the stack tells which.
  const braces: ('block' | 'template')[] = []
  let i = 0

  const template = () => {
    let text = ''
    while (i < source.length && source[i] !== '`') {
      if (source.startsWith('${', i)) {
        i += 2
        braces.push('template')
        bare += '`${'
        texts.push(text)
        return
      }
      if (source[i] === '\\') text += source[i++]
      text += source[i++] ?? ''
    }
    i++
    bare += '`'
    texts.push(text)
  }

  while (i < source.length) {
    const c = source[i] as string
    if (source.startsWith('//', i)) {
      while (i < source.length && source[i] !== '\n') i++
    } else if (source.startsWith('/*', i)) {
      const end = source.indexOf('*/', i + 2)
      bare += '\n'.repeat(source.slice(i, end).split('\n').length - 1)
      i = end + 2
    } else if (c === "'" || c === '"') {
      let text = ''
      for (i++; i < source.length && source[i] !== c && source[i] !== '\n'; i++) {
        if (source[i] === '\\') text += source[i++]
        text += source[i] ?? ''
      }
      i++
      bare += c + c
      texts.push(text)
    } else if (c === '`') {
      i++
      bare += '`'
      template()
    } else if (c === '/' && startsExpression(bare)) {
      let inClass = false
      for (i++; i < source.length && (inClass || source[i] !== '/'); i++) {
        if (source[i] === '\\') i++
        else if (source[i] === '[') inClass = true
        else if (source[i] === ']') inClass = false
      }
      i++
      bare += '/ /'
    } else if (c === '}' && braces.pop() === 'template') {
      i++
      bare += '}`'
      template()
    } else {
      if (c === '{') braces.push('block')
      bare += c
      i++
    }
  }
  return { bare, texts }
}

// After a value a slash divides; anywhere else it opens a regular expression.
function startsExpression(before: string): boolean {
  const text = before.trimEnd()
  return text === '' || /[=(,:[!&|?{};+\-*%<>~^]$/.test(text) || /\b(?:return|typeof|case|in|of|yield|await|void)$/.test(text)
}

const STATIC = /(?:^|\n)\s*(?:import|export)\b[^'"`;=]*?\bfrom\s*['"]([^'"\n]+)['"]/g
const BARE = /(?:^|\n)\s*import\s*['"]([^'"\n]+)['"]/g
const DYNAMIC = /\b(?:import|require)\s*\(\s*['"]([^'"\n]+)['"]/g
const WORKER = /\bnew URL\(\s*['"](\.{1,2}\/[^'"\n]+\.[cm]?[jt]s)['"]/g

/** Specifiers, as written: static, dynamic and type imports, re-exports, and files loaded by address. */
export function importsOf(source: string): readonly string[] {
  return [STATIC, BARE, DYNAMIC, WORKER].flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[1] as string))
}
