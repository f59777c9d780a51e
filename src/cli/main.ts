// The command line: parses the arguments, runs one command, and exits with its code.

import { type Exit, tellFailure } from './exit.ts'
import { run } from './run.ts'
import { environment, listenForStops, terminal } from './terminal.ts'

const stops = listenForStops()
// Known before the arguments are parsed, because parsing may fail.
const json = process.argv.includes('--json')
const plain = terminal(json, stops.signal)

const tell = (error: unknown): Exit => tellFailure(error, { json, debug: environment.debug, out: plain.out, note: plain.note })

function stopped(exit: Exit): number | undefined {
  const reason = stops.reason()
  return reason === 'unread' ? exit : reason === undefined ? undefined : 128 + reason
}

// Failures outside the command, in a timer or a thread, are reported too.
process.on('uncaughtException', (error) => process.exit(tell(error)))

// Idle connections to a server do not keep the program alive, but a command must run to its end.
const awake = setInterval(() => {}, 2 ** 30)
// Sets the code without exiting, so that pending output reaches the pipe first.
process.exitCode = await run(process.argv.slice(2), { terminalOf: (asked) => terminal(asked, stops.signal), tell, stopped })
clearInterval(awake)
