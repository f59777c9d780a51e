// The command line: reads the words, runs one command, ends with its exit code.

import { type Command, CommanderError } from 'commander'
import { EXIT, type Exit, tellFailure, usage } from './exit.ts'
import { program } from './program.ts'
import { environment, listenForStops, terminal } from './terminal.ts'

const stops = listenForStops()
// Known before the words are parsed, because parsing them may be what fails.
const json = process.argv.includes('--json')
const plain = terminal(json, stops.signal)

async function run(words: readonly string[]): Promise<number> {
  let exit: Exit = EXIT.fine
  const commands = program(
    (asked) => terminal(asked ?? false, stops.signal),
    (code) => {
      exit = code
    },
  )
  for (const command of everyOne(commands)) command.exitOverride().configureOutput({ writeErr: () => {} })
  try {
    if (words.length === 0) commands.help()
    await commands.parseAsync(words, { from: 'user' })
  } catch (error) {
    const reason = stops.reason()
    if (reason === 'unread') return exit
    if (reason !== undefined) return 128 + reason
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.fine
      const said = error.message
        .replace(/^error: /, '')
        .replaceAll('\n', ' ')
        .replace(/\.?$/, '.')
      return tell(usage(`${said} See inkfast ${namedBy(words, commands).join(' ')} --help.`.replace('  ', ' ')))
    }
    return tell(error)
  }
  return exit
}

const everyOne = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(everyOne)]

/** The command that the words name, as far as they name one. */
function namedBy([word = '', ...rest]: readonly string[], within: Command): readonly string[] {
  const found = within.commands.find((command) => command.name() === word)
  return found ? [word, ...namedBy(rest, found)] : []
}

const tell = (error: unknown): Exit => tellFailure(error, { json, debug: environment.debug, out: plain.out, note: plain.note })

// What fails beside the command, in a timer or a thread, ends it in words too.
process.on('uncaughtException', (error) => process.exit(tell(error)))

// Idle connections to a server do not keep a program alive, and a command ends when it is done, not before.
const awake = setInterval(() => {}, 2 ** 30)
// Set, not called: what is still on its way to a pipe gets there first.
process.exitCode = await run(process.argv.slice(2))
clearInterval(awake)
