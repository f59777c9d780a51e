// Defines `inkfast memory`.

import type { Command } from 'commander'
import { counting, type Define, type Done, type TerminalOf, verbsOf } from './define.ts'

const collect = (tag: string, before: readonly string[] = []): readonly string[] => [...before, tag]
const filtered = (command: Command): Command =>
  command
    .option('--about <scope>', 'use only this scope: shared, or one such as user/ada')
    .option('--tag <tag>', 'use only items with this tag; can be repeated', collect)
    .option('--kind <kind>', 'use only items of this kind')

const embedding = (command: Command): Command =>
  command
    .option(
      '--embedder <embedder>',
      'use this embedder: hash, local, or the address of a server with /v1/embeddings (key: INKFAST_EMBEDDER_KEY)',
    )
    .option('--model <model>', 'ask the server for this model')

export function defineMemory(memory: Command, define: Define, terminalOf: TerminalOf, done: Done): void {
  const { verb, ofTenant, byWhom, paged, does } = verbsOf(memory, define, terminalOf, done)
  const commands = () => import('./commands/memory.ts')
  memory.usage('[list | search | add | forget | core | stats | backfill | export | eval] [options] [store] …')

  paged(ofTenant(filtered(verb('list', 'List items, newest first.', ['memory agents.db --about user/ada']))), 50).action(
    does(async () => (await commands()).listMemory),
  )
  embedding(
    ofTenant(
      filtered(verb('search', 'Find items, with the breakdown of each score.', ["memory search agents.db 'which units?'"], '<question>')),
    ),
  )
    .option('--limit <n>', 'show at most n (default 8)', counting(1, 64))
    .action(does(async () => (await commands()).searchMemory))
  byWhom(
    ofTenant(filtered(verb('add', 'Remember a text.', ["memory add agents.db 'Ada prefers metric units' --about user/ada"], '<text>'))),
  )
    .option('--ttl <duration>', 'the item expires after this time: 90d')
    .action(does(async () => (await commands()).addMemory))
  byWhom(
    ofTenant(
      filtered(
        verb('forget', 'Hide one item, or all that the options name.', ['memory forget agents.db --about user/ada --purge'], '[id]'),
      ),
    ),
  )
    .option('--purge', 'remove the text, the index entries and the payloads')
    .option('--reason <text>', 'record why')
    .action(does(async () => (await commands()).forgetMemory))
  byWhom(ofTenant(verb('core', 'Show or set blocks of core memory.', ['memory core agents.db --about user/ada'])))
    .option('--about <scope>', 'use the core memory of this scope')
    .option('--session <key or id>', 'use the core memory of this session')
    .option('--block <name>', 'use only this block')
    .option('--set <text>', 'set the block')
    .action(does(async () => (await commands()).coreOfMemory))
  ofTenant(verb('stats', 'Count items and bytes by scope.', ['memory stats agents.db'])).action(
    does(async () => (await commands()).memoryStats),
  )
  embedding(
    byWhom(ofTenant(verb('backfill', 'Embed the items that have no vector yet.', ['memory backfill agents.db --embedder local']))),
  ).action(does(async () => (await commands()).backfillMemory))
  ofTenant(filtered(verb('export', 'Print items as NDJSON.', ['memory export agents.db > items.ndjson']))).action(
    does(async () => (await commands()).exportMemory),
  )
  embedding(
    define('eval', 'Measure recall on a labelled set: recall@1/5/10 and MRR for each leg, by category.', [
      'memory eval',
      'memory eval own.ndjson',
    ]),
  )
    .usage('[options] [file]')
    .argument('[file...]', 'NDJSON with items and questions; default: the set that comes with Inkfast')
    .action(does(async () => (await commands()).evaluateMemory))
}
