// One command: the words are read, it is done, and how it ended is one number.

import { type Command, CommanderError } from 'commander'
import { EXIT, type Exit, usage } from './exit.ts'
import { program } from './program.ts'
import type { Terminal } from './terminal.ts'

export interface Around {
  readonly terminalOf: (json: boolean) => Terminal
  /** Says what failed. */
  readonly tell: (error: unknown) => Exit
  /** Where help goes; stdout unless said. */
  readonly print?: (text: string) => void
  /** What it means that it was ended from outside; undefined where it was not. */
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
    await commands.parseAsync(words, { from: 'user' })
  } catch (error) {
    const code = stopped?.(exit)
    if (code !== undefined) return code
    if (!(error instanceof CommanderError)) return tell(error)
    if (error.exitCode === 0) return EXIT.fine
    const said = error.message
      .replace(/^error: /, '')
      .replaceAll('\n', ' ')
      .replace(/\.?$/, '.')
    return tell(usage(`${said} See inkfast ${namedBy(words, commands).join(' ')} --help.`.replace('  ', ' ')))
  }
  return exit
}

const everyOne = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyOne)]

/** The command that the words name, as far as they name one. */
function namedBy([word = '', ...rest]: readonly string[], within: Command): readonly string[] {
  const found = within.commands.find((command) => command.name() === word)
  return found ? [word, ...namedBy(rest, found)] : []
}
