// The command line: reads the words, runs one command, ends with its exit code.

import { type Exit, tellFailure } from './exit.ts'
import { run } from './run.ts'
import { environment, listenForStops, terminal } from './terminal.ts'

const stops = listenForStops()
// Known before the words are parsed, because parsing them may be what fails.
const json = process.argv.includes('--json')
const plain = terminal(json, stops.signal)

const tell = (error: unknown): Exit => tellFailure(error, { json, debug: environment.debug, out: plain.out, note: plain.note })

function stopped(exit: Exit): number | undefined {
  const reason = stops.reason()
  return reason === 'unread' ? exit : reason === undefined ? undefined : 128 + reason
}

// What fails beside the command, in a timer or a thread, ends it in words too.
process.on('uncaughtException', (error) => process.exit(tell(error)))

// Idle connections to a server do not keep a program alive, and a command ends when it is done, not before.
const awake = setInterval(() => {}, 2 ** 30)
// Set, not called: what is still on its way to a pipe gets there first.
process.exitCode = await run(process.argv.slice(2), { terminalOf: (asked) => terminal(asked, stops.signal), tell, stopped })
clearInterval(awake)
