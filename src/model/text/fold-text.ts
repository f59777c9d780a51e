// Folding: texts that differ only in case, in diacritics or in the width of their characters become equal.

// Combining diacritics, and the vowel points of Hebrew and Arabic. Vowel signs of other scripts stay: there they make different words.
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/g
// Letters that have no decomposition.
const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }
const SPECIAL = /[ßæœøłđðþı]/g
const ASCII = /^[\u0020-\u007e\s]*$/

/** Lower case, without diacritics. Composed again at the end, so that a Hangul syllable or a kana is one character. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(SPECIAL, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFC')
}
