// Shows the progress of a long command: an overwritten line on a terminal, a plain line every few seconds elsewhere, and nothing for work
// that takes less than a second.

import { count } from './format.ts'
import type { Terminal } from './terminal.ts'

const FIRST_AFTER_MS = 1000
const WATCHED_EVERY_MS = 100
const PLAIN_EVERY_MS = 5000

export interface Progress {
  readonly tell: (done: number, of: number) => void
  end(): void
}

export function progress(t: Terminal, what: string): Progress {
  const started = performance.now()
  const every = t.watched ? WATCHED_EVERY_MS : PLAIN_EVERY_MS
  let next = started + (t.watched ? FIRST_AFTER_MS : PLAIN_EVERY_MS)
  let shown = false
  let text = what
  const show = () => {
    const now = performance.now()
    if (now < next) return
    next = now + every
    shown = true
    if (t.watched) t.status(`\r\u001b[K${text}`)
    else t.note(text)
  }
  // For work that cannot report its progress.
  const timer = setInterval(show, every)
  timer.unref()
  return {
    tell: (done, of) => {
      text = `${what}: ${count(done)} of ${count(of)}${of > 0 ? ` (${Math.floor((100 * done) / of)} %)` : ''}`
      show()
    },
    end: () => {
      clearInterval(timer)
      if (shown && t.watched) t.status('\r\u001b[K')
    },
  }
}
