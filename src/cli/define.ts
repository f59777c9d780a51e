// Helpers shared by the definitions of all commands.

import { Command, InvalidArgumentError } from 'commander'
import type { Exit } from './exit.ts'
import type { Terminal } from './terminal.ts'

export type Done = (exit: Exit) => void
export type TerminalOf = (json: boolean) => Terminal
export type Define = (name: string, description: string, examples: readonly string[]) => Command

/** Parses an integer between `least` and `most`. */
export const counting =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const n = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (n >= least && n <= most) return n
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER ? `Expected an integer ≥ ${least}.` : `Expected an integer from ${least} to ${most}.`,
    )
  }

/** Parses an integer, which may be negative. */
export const whole = (text: string): number => {
  const n = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(n)) throw new InvalidArgumentError('Expected an integer.')
  return n
}

export interface Verbs {
  /** Defines a verb whose arguments are `[store]` and `words`. */
  verb(name: string, what: string, examples: readonly string[], words?: string): Command
  /** Adds the option that names the tenant. */
  ofTenant(command: Command): Command
  /** Adds the option that names the actor, for verbs that write. */
  byWhom(command: Command): Command
  /** Adds the options of a paged list. */
  paged(command: Command, usual: number): Command
  /** Defines `prune`, which removes rows that `was` (ended, finished) before a time. */
  prunes(what: string, was: string, does: 'pruneProcesses' | 'pruneOccurrences' | 'pruneFirings'): Command
  /** Runs a command whose code is loaded when it is called. */
  does(load: () => Promise<Act>): (words: readonly string[], options: object, command: Command) => Promise<void>
}

export type Act = (t: Terminal, words: readonly string[], options: never) => Promise<Exit>

export const STORE = 'path of the store, or postgres://…; default: INKFAST_URL'

/** Makes the helpers for the verbs of one noun. Each verb is a command with its own help. */
export function verbsOf(parent: Command, define: Define, terminalOf: TerminalOf, done: Done): Verbs {
  const help = new Command('help').argument('[verb]').helpOption(false).description('Show the help of a verb.').helpGroup('Verbs:')
  parent
    .commandsGroup('Verbs:')
    .addHelpCommand(help)
    .configureHelp({
      subcommandTerm: (command) => (command === help ? 'help [verb]' : `${command.name()} ${command.usage().replace('[options] ', '')}`),
    })
  const verbs: Verbs = {
    verb: (name, what, examples, words = '') =>
      define(name, what, examples)
        .usage(`[options] [store] ${words}`.trimEnd())
        .argument('[store...]', words === '' ? STORE : `${STORE}; then ${words}`),
    ofTenant: (command) => command.option('--tenant <tenant>', 'use this tenant (default: main)'),
    byWhom: (command) => command.option('--actor <actor>', 'record this opaque id as the actor'),
    paged: (command, usual) =>
      command
        .option('--last <n>', `show at most n (default ${usual})`, counting(1, 1000))
        .option('--cursor <cursor>', 'continue where the last page ended'),
    does: (load) => async (words, options, command) => {
      // `--json` may stand anywhere, so the parent command may have taken it.
      const json = (command.optsWithGlobals().json as boolean | undefined) ?? false
      done(await (await load())(terminalOf(json), words, options as never))
    },
    prunes: (what, was, does) =>
      verbs
        .byWhom(
          verbs.ofTenant(
            verbs.verb(
              'prune',
              `${what} The journal keeps the events.`,
              ['30d', '2026-01-31'].map((time) => `${parent.name()} prune agents.db --before ${time}`),
            ),
          ),
        )
        .option('--before <time>', `remove those ${was} before this time: 2026-01-31T09:00:00Z, a day in UTC, or an age such as 30d`)
        .action(verbs.does(async () => (await import('./commands/prune.ts'))[does])),
  }
  return verbs
}
