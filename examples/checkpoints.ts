// A long loop that saves checkpoints. One process kills itself in the middle; the next one resumes after the newest checkpoint.
//
// Run it after `npm run build` with: node examples/checkpoints.ts [file]

import { spawnSync } from 'node:child_process'
import { open } from 'inkfast'

const [, program = '', file = 'checkpoints.db', role] = process.argv

async function crawl(dies: boolean): Promise<void> {
  await using store = await open(file)
  const run = await (await store.session('crawler')).run('crawl', { wait: '1m' })
  const last = await run.restore<{ page: number; found: string[] }>()
  let { page, found } = last ?? { page: 0, found: [] }
  console.log(`process ${process.pid} begins at page ${page}`)
  while (page < 300) {
    found = [...found, await run.effect('fetch', () => `title of page ${page}`)]
    page++
    if (page % 50 === 0) await run.checkpoint({ page, found })
    if (dies && page === 230) process.kill(process.pid, 'SIGKILL')
  }
  await run.finish({ pages: found.length })
  console.log(`done: ${found.length} pages, ${(await store.verify()).intact ? 'the journal is intact' : 'the journal is damaged'}`)
}

if (role) await crawl(role === 'dies')
else for (const next of ['dies', 'resumes']) spawnSync(process.execPath, [...process.execArgv, program, file, next], { stdio: 'inherit' })
