// What the definitions of commands share.

import { type Command, InvalidArgumentError } from 'commander'
import type { Exit } from './exit.ts'
import type { Terminal } from './terminal.ts'

export type Done = (exit: Exit) => void
export type TerminalOf = (json: boolean) => Terminal
export type Define = (name: string, description: string, examples: readonly string[]) => Command

export const counting =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const n = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (n >= least && n <= most) return n
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER ? `Write a whole number from ${least} on.` : `Write a whole number from ${least} to ${most}.`,
    )
  }

/** Also below zero. */
export const whole = (text: string): number => {
  const n = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(n)) throw new InvalidArgumentError('Write a whole number.')
  return n
}

export interface Verbs {
  /** One thing to do, on `[store]` and `words`. */
  verb(name: string, what: string, examples: readonly string[], words?: string): Command
  /** Something is written, on somebody's behalf. */
  byWhom(command: Command): Command
  /** It prints a part of a list. */
  paged(command: Command, usual: number): Command
  /** `prune`: forgets what was over, as `was` says it, before a time. */
  prunes(what: string, was: string, does: 'pruneProcesses' | 'pruneOccurrences' | 'pruneFirings'): Command
  /** What it does is loaded when it is called. */
  does(load: () => Promise<Act>): (words: readonly string[], options: object, command: Command) => Promise<void>
}

export type Act = (t: Terminal, words: readonly string[], options: never) => Promise<Exit>

const STORE = 'the store; INKFAST_URL names it when left out'

/** What the verbs of one command share. Each is a command of its own, with its own help. */
export function verbsOf(parent: Command, define: Define, terminalOf: TerminalOf, done: Done): Verbs {
  parent.configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options] ', '')}` })
  const verbs: Verbs = {
    verb: (name, what, examples, words = '') =>
      define(name, what, examples)
        .usage(`[options] [store] ${words}`.trimEnd())
        .argument('[words...]', words === '' ? STORE : `${STORE}; then ${words}`)
        .option('--tenant <tenant>', 'another tenant than main'),
    byWhom: (command) => command.option('--actor <actor>', 'on whose behalf: an opaque id'),
    paged: (command, usual) =>
      command.option('--last <n>', `how many (${usual})`, counting(1, 1000)).option('--cursor <cursor>', 'go on where the last list ended'),
    does: (load) => async (words, options, command) => {
      // `--json` may stand anywhere, so the command above may have taken it.
      const json = (command.optsWithGlobals().json as boolean | undefined) ?? false
      done(await (await load())(terminalOf(json), words, options as never))
    },
    prunes: (what, was, does) =>
      verbs
        .byWhom(
          verbs.verb(
            'prune',
            `${what} The journal keeps it.`,
            ['30d', '2026-01-31'].map((time) => `${parent.name()} prune agents.db --before ${time}`),
          ),
        )
        .option('--before <time>', `${was} before this time: 2026-01-31T09:00:00Z, a day in UTC, or how long ago: 30d`)
        .action(verbs.does(async () => (await import('./commands/prune.ts'))[does])),
  }
  return verbs
}
