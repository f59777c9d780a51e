// Defines `inkfast canvas`.

import type { Command } from 'commander'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

const PLACE = '<session> <name>'

export function defineCanvas(canvas: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, does } = verbsOf(canvas, define, terminalOf, done)
  const commands = () => import('./commands/canvas.ts')
  canvas.usage('[list | show | at | history | diff | patch] [options] [store] …')

  paged(ofTenant(verb('list', 'List canvases, newest first.', ['canvas agents.db', 'canvas list agents.db --session support/4711'])), 50)
    .option('--session <key or id>', 'show only canvases of this session, by name')
    .action(does(async () => (await commands()).listCanvases))

  ofTenant(verb('show', 'Print the document of a canvas as JSON.', ['canvas show agents.db support/4711 plan'], PLACE)).action(
    does(async () => (await commands()).showCanvas),
  )

  ofTenant(verb('at', 'Print the document at a version.', ['canvas at agents.db support/4711 plan 3'], `${PLACE} <version>`)).action(
    does(async () => (await commands()).canvasAt),
  )

  ofTenant(verb('history', 'List the versions of a canvas, newest first.', ['canvas history agents.db support/4711 plan'], PLACE))
    .option('--last <n>', 'show at most n (default 50)', counting(1, 1000))
    .option('--before <version>', 'continue before this version', counting(1))
    .action(does(async () => (await commands()).canvasHistory))

  ofTenant(
    verb(
      'diff',
      'Print the JSON Patch from one version to another.',
      ['canvas diff agents.db support/4711 plan 3 5'],
      `${PLACE} <from> <to>`,
    ),
  ).action(does(async () => (await commands()).canvasDiff))

  byWhom(
    ofTenant(
      verb(
        'patch',
        'Apply a JSON Patch to a canvas.',
        [`canvas patch agents.db support/4711 plan '[{"op":"add","path":"/done","value":true}]' --expect 5`],
        `${PLACE} <patch>`,
      ),
    ),
  )
    .option('--expect <version>', 'write only if the canvas is at this version; 0 if it must be new', counting(0))
    .action(does(async () => (await commands()).patchCanvas))
}
