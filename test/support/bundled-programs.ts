// The programs that tests start, bundled before the tests begin and compiled once. Opening a store takes a new process a quarter of a second of a
// core from the sources and a third of that from the bundle, and a run of the tests starts hundreds of processes.

import { spawn } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { exportedSources, FOLDER, moduleAt } from './programs.ts'
import { inProject, root } from './project.ts'

const PROGRAMS = ['src/cli/main.ts', 'test/**/{*writer,*-process,*-owner,holder}.ts']

export async function setup(): Promise<() => void> {
  // Packages are found from there.
  const cache = inProject('node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'inkfast-programs-'))
  const sources = [...exportedSources().values(), ...globSync(PROGRAMS, { cwd: root })]
  const bundle = await rolldown({
    input: Object.fromEntries(sources.map((source) => [source.replace(/\.ts$/, ''), inProject(source)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    // Files beside a source (migrations, threads) are found as if it had not been bundled.
    plugins: [{ name: 'urls', transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)) }],
  })
  await bundle.write({
    dir: folder,
    format: 'esm',
    keepNames: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await bundle.close()
  // Workers have both from here, and their programs from them.
  process.env[FOLDER] = folder
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled')
  // Most programs are killed before they could leave compiled code behind for the next. Nobody waits for the first to do so.
  const program = `await (await import(${JSON.stringify(moduleAt(pathToFileURL(inProject('src', 'index.ts'))))})).open(':memory:').then((store) => store.close())`
  const first = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'ignore' })
  first.unref()
  return () => {
    first.kill()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
