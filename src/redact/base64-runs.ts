// Finds long runs of base64: images and files in a payload. Random letters contain the shape of a key now and then, so a shape counts
// only at the start of such a run.

/** Longer than any key whose prefix may follow other text of the same alphabet. */
const LONG = 200
const STANDARD = 1
const URL_SAFE = 2
const CLASS = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789') CLASS[char.charCodeAt(0)] = STANDARD | URL_SAFE
for (const char of '+/') CLASS[char.charCodeAt(0)] = STANDARD
for (const char of '-_') CLASS[char.charCodeAt(0)] = URL_SAFE

function classOf(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code < 128 ? (CLASS[code] as number) : 0
}

/**
 * Returns a function that gives the end of the long run that begins at a place, or -1. The function is asked at rising places and reads
 * every character at most once for each alphabet.
 */
export function longRun(text: string, limit: number): (at: number) => number {
  let standard = -1
  let urlSafe = -1
  const end = (at: number, alphabet: number) => {
    let stop = at
    while (stop < limit && (classOf(text, stop) & alphabet) !== 0) stop++
    return stop
  }
  return (at) => {
    let longest = -1
    if (at > standard) {
      standard = end(at, STANDARD)
      if (standard - at >= LONG) longest = standard
    }
    if (at > urlSafe) {
      urlSafe = end(at, URL_SAFE)
      if (urlSafe - at >= LONG) longest = Math.max(longest, urlSafe)
    }
    return longest
  }
}

const SHORTEST_LINE = 56
const LONGEST_LINE = 80
const LINES = 3
/** As long as the beginning that the keys of a vendor share. */
const PREFIX = 3
const LINE_END = /\r?\n|(?:\\r)?\\n/y

/**
 * Returns where wrapped base64 ends that begins with this line, or the end of the line. Its first lines have the same length, as in MIME and
 * PEM, and a sign that keys seldom have: a list of keys has lines of equal length, too. Keys do have the signs of the URL-safe alphabet, but
 * then their lines begin alike.
 */
export function wrappedEnd(text: string, start: number, end: number): number {
  const width = end - start
  if (width < SHORTEST_LINE || width > LONGEST_LINE) return end
  let alphabet = STANDARD | URL_SAFE
  let from = start
  for (let lines = 1; ; lines++) {
    let stop = from
    for (; stop < from + width; stop++) {
      const both = alphabet & classOf(text, stop)
      if (both === 0) break
      alphabet = both
    }
    const signs = alphabet !== (STANDARD | URL_SAFE)
    const wrapped = lines > LINES && signs
    if (stop - from < width || (lines >= LINES && !signs)) return wrapped ? stop : end
    if (alphabet === URL_SAFE && lines > 1 && lines <= LINES + 1 && text.startsWith(text.slice(start, start + PREFIX), from)) return end
    LINE_END.lastIndex = stop
    const line = LINE_END.exec(text)
    if (line === null) return wrapped ? stop : end
    from = stop + line[0].length
  }
}
