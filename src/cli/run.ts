// Runs one command: parses its arguments, executes it and returns its exit code.

import { existsSync } from 'node:fs'
import { type Command, CommanderError } from 'commander'
import { EXIT, type Exit, usage } from './exit.ts'
import { program } from './program.ts'
import { environment, type Terminal, unclearSwitch } from './terminal.ts'

export interface Around {
  readonly terminalOf: (json: boolean) => Terminal
  /** Prints a failure. */
  readonly tell: (error: unknown) => Exit
  /** Prints help; the default is stdout. */
  readonly print?: (text: string) => void
  /** Returns the exit code of a command that a signal ended; undefined for any other. */
  readonly stopped?: (exit: Exit) => number | undefined
}

export async function run(words: readonly string[], { terminalOf, tell, print, stopped }: Around): Promise<number> {
  let exit: Exit = EXIT.fine
  const commands = program(
    (asked) => terminalOf(asked ?? false),
    (code) => {
      exit = code
    },
  )
  const output = { writeErr: () => {}, ...(print && { writeOut: print }) }
  for (const command of everyOne(commands)) command.exitOverride().configureOutput(output)
  try {
    if (words.length === 0) commands.help()
    checkVerb(words, commands)
    const unclear = unclearSwitch()
    if (unclear !== undefined) throw usage(unclear)
    await commands.parseAsync(words, { from: 'user' })
  } catch (error) {
    const code = stopped?.(exit)
    if (code !== undefined) return code
    if (!(error instanceof CommanderError)) return tell(error)
    if (error.exitCode === 0) return EXIT.fine
    const said = error.message
      .replace(/^error: /, '')
      .replace(/^./, (letter) => letter.toUpperCase())
      .replaceAll('\n', ' ')
      .replace(/\.?$/, '.')
    return tell(usage(`${said} See inkfast ${namedBy(words, commands).join(' ')} --help.`.replace('  ', ' ')))
  }
  return exit
}

const everyOne = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyOne)]

const DEFAULT_VERB_TAKES_A_NAME: readonly string[] = ['graph', 'values']

/** Explains a verb after the store, or a misspelt one: the default verb would take it for the store. */
function checkVerb([noun = '', first, second]: readonly string[], root: Command): void {
  const verbs = root.commands.find((command) => command.name() === noun)?.commands.map((verb) => verb.name()) ?? []
  if (verbs.length === 0 || first === undefined || first.startsWith('-') || first === 'help' || verbs.includes(first)) return
  if (second !== undefined && verbs.includes(second))
    throw usage(`The verb comes before the store: write inkfast ${noun} ${second} <store> …`)
  // Where INKFAST_URL names the store, the word is the name that the default verb takes.
  if (environment.url !== undefined && DEFAULT_VERB_TAKES_A_NAME.includes(noun)) return
  if (/^[a-z]+$/i.test(first) && !existsSync(first))
    throw usage(`'${first}' is neither a verb of inkfast ${noun} nor a store. The verbs are ${verbs.join(', ')}.`)
}

/** Returns the words that name a command, as far as they do. */
function namedBy([word = '', ...rest]: readonly string[], within: Command): readonly string[] {
  const found = within.commands.find((command) => command.name() === word)
  return found ? [word, ...namedBy(rest, found)] : []
}
