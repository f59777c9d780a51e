// Programs that tests run as an ordinary user, because root may write anywhere.

import { spawn } from 'node:child_process'
import { copyFileSync, cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { later } from './engines.ts'
import { folderFor, own, type RunAs, runs } from './postgres-programs.ts'
import { readJson, root } from './project.ts'

export interface RunnableProject {
  readonly node: string
  /** URL of the entry point, for an import statement. */
  readonly entry: string
}

/** The project in place, or a copy in a temporary folder when the user cannot enter the project's folder, such as root's home. */
export function projectFor(user: RunAs, project: RunnableProject = projectIn(root, process.execPath)): RunnableProject {
  if (canRun(project, user)) return project
  const folder = folderFor(user)
  later(() => rmSync(folder, { recursive: true, force: true }))
  const copy = copyProject(folder)
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) own(join(folder, path), user)
  return copy
}

/** Copies Node, the sources and the packages that they import. */
export function copyProject(folder: string): RunnableProject {
  const { packages } = readJson<{ packages: Readonly<Record<string, { dev?: true; optional?: true }>> }>('package-lock.json')
  const needed = Object.keys(packages).filter((path) => path !== '' && !packages[path]?.dev && !packages[path]?.optional)
  for (const part of ['package.json', 'src', ...needed]) cpSync(join(root, part), join(folder, part), { recursive: true })
  const node = join(folder, 'node')
  copyFileSync(process.execPath, node)
  return projectIn(folder, node)
}

/** Runs an ES module as that user and returns what it printed. */
export async function printedAs(user: RunAs, node: string, script: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(node, ['--input-type=module', '-e', script, ...args], { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  return printed
}

const projectIn = (folder: string, node: string): RunnableProject => ({ node, entry: pathToFileURL(join(folder, 'src', 'index.ts')).href })

const canRun = ({ node, entry }: RunnableProject, user: RunAs): boolean => runs(node, ['-e', `import(${JSON.stringify(entry)})`], user)
