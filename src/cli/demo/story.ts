// Prints the demo: chapters, their events, and numbered claims with measurements. With --json nothing is printed on the way.

import { join } from 'node:path'
import { count, span } from '../format.ts'
import { type Column, printTable } from '../table.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { cut, harmless, padEnd } from '../text.ts'
import type { Claim } from './claims.ts'

const INDENT = '   '
const CLAIM_COLUMNS = 63
const ROOM_BESIDE = 60

export class Story {
  readonly claims: Claim[] = []
  readonly #t: Terminal

  constructor(t: Terminal) {
    this.#t = t
    this.#out(`${t.paint('bold', 'Inkfast')}  agent runs, in permanent ink. Every number below is measured as you watch.`)
  }

  chapter(title: string, about: readonly string[]): void {
    this.#out('')
    this.#out(this.#t.paint('bold', title))
    for (const line of about) this.#out(`${INDENT}${this.#t.paint('dim', line)}`)
    this.#out('')
  }

  line(text: string): void {
    this.#out(text === '' ? '' : `${INDENT}${this.#t.paint('dim', text)}`)
  }

  /** Prints a quotation. */
  quote(who: string, words: string): void {
    const said = harmless(words)
    const room = (this.#t.width ?? Infinity) - INDENT.length - 2
    this.line(who)
    this.#out(`${INDENT}${this.#t.paint('dim', '│')} ${cut(said, room)}`)
    this.#out('')
  }

  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
    if (this.#t.json) return
    const { width } = this.#t
    printTable({ ...this.#t, width: width === undefined ? undefined : width - INDENT.length }, columns, rows, INDENT)
    this.#out('')
  }

  claim(claim: Claim): void {
    this.claims.push(claim)
    const { width } = this.#t
    // The measurement is beside the claim if there is room, otherwise below it.
    const beside = width === undefined || width >= CLAIM_COLUMNS + ROOM_BESIDE
    const said = verdict(this.#t, claim.ok ? 'ok' : 'fail', beside ? padEnd(claim.claim, CLAIM_COLUMNS) : claim.claim)
    const measured = width === undefined ? claim.measured : cut(claim.measured, beside ? width - CLAIM_COLUMNS - 9 : width - 8)
    const number = this.#t.paint('dim', String(this.claims.length).padStart(4))
    this.#out(`${number} ${said}${beside ? ' ' : '\n       '}${this.#t.paint('dim', measured)}`)
  }

  end(ok: boolean, ms: number, folder: string | undefined, run: string): void {
    const held = this.claims.filter((c) => c.ok).length
    this.#out('')
    this.#out(verdict(this.#t, ok ? 'ok' : 'fail', `${count(held)} of ${count(this.claims.length)} claims hold, in ${span(ms)}.`))
    if (!ok) this.#out('  This is a bug in Inkfast or a fault of this machine. Run inkfast demo --keep and report it with the folder.')
    if (folder) {
      this.#out(`  The stores are in ${folder}`)
      this.#out(`  Next: inkfast runs tape ${join(folder, 'agents.db')} ${run}`)
    } else this.#out("  Next: inkfast demo --keep to look inside, import { open } from 'inkfast'.")
  }

  #out(line: string): void {
    if (!this.#t.json) this.#t.out(line)
  }
}
