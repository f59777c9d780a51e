// Defines `inkfast blobs` and `inkfast values`.

import type { Command } from 'commander'
import { type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineBlobs(blobs: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, does } = verbsOf(blobs, define, terminalOf, done)
  const commands = () => import('./commands/blobs.ts')
  blobs.usage('[list | get | put] [options] [store] …')

  paged(
    ofTenant(verb('list', 'List blobs in the order of their digests.', ['blobs agents.db', 'blobs list agents.db --last 100'])),
    50,
  ).action(does(async () => (await commands()).listBlobs))
  ofTenant(verb('get', 'Write the bytes of a blob to a new file.', ['blobs get agents.db 3f2a…9c report.pdf'], '<digest> <file>')).action(
    does(async () => (await commands()).getBlob),
  )
  byWhom(ofTenant(verb('put', 'Store a file as a blob, and print its reference.', ['blobs put agents.db report.pdf --pin'], '<file>')))
    .option('--kind <kind>', 'a word for the content, such as tool-state')
    .option('--pin', 'keep the blob although nothing refers to it')
    .action(does(async () => (await commands()).putBlob))
}

export function defineValues(values: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, does } = verbsOf(values, define, terminalOf, done)
  values.usage('[get] [options] [store] …')

  ofTenant(verb('get', 'Print a value as JSON.', ['values get agents.db value:3q2-7w… --pointer /messages/3'], '<ref>'))
    .option('--pointer <pointer>', 'print only the part that this JSON Pointer names')
    .action(does(async () => (await import('./commands/values.ts')).getValue))
}
