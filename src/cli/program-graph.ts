// Defines `inkfast graph`.

import type { Command } from 'commander'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

export function defineGraph(graph: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, does } = verbsOf(graph, define, terminalOf, done)
  graph.usage('[show] [options] [store] …')
  ofTenant(
    verb(
      'show',
      'Show the message graph of a session as a tree.',
      ['graph agents.db support/4711', 'graph show agents.db support/4711 --path'],
      '<key or id>',
    ),
  )
    .option('--path', 'show the active path instead of the tree')
    .option('--leaf <node>', 'show the path to this node')
    .option('--frame <frame>', 'show only nodes of this frame')
    .option('--last <n>', 'show only the last n nodes (default 200)', counting(1, 1000))
    .action(does(async () => (await import('./commands/graph.ts')).showGraph))
}
