// Lists canvases, prints their documents, versions and differences, and patches them.

import { type Canvas, type CanvasChange, type CanvasState, diff, type PatchOperation, type Store } from '../../index.ts'
import { CliError, EXIT, type Exit } from '../exit.ts'
import { count, time } from '../format.ts'
import { changeStore, findSession, sessionNames, tenantView, type WhoOptions, withStore } from '../store.ts'
import { printTable } from '../table.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'
import { given, jsonWord, namedWords, onlyStore } from '../words.ts'

export interface CanvasCommandOptions extends WhoOptions {
  readonly session?: string
  readonly last?: number
  readonly cursor?: string
  readonly before?: number
  readonly expect?: number
}

const LAST_BY_DEFAULT = 50
const PLACE = { session: 'inkfast sessions list', name: 'inkfast canvas list' }

export function listCanvases(t: Terminal, words: readonly string[], options: CanvasCommandOptions): Promise<Exit> {
  return withStore(onlyStore(words), async (root) => {
    const store = await tenantView(root, options.tenant)
    const session = options.session === undefined ? undefined : (await findSession(store, options.session)).id
    const page = await store.canvases.list({ last: options.last ?? LAST_BY_DEFAULT, ...given({ cursor: options.cursor, session }) })
    if (t.json) {
      t.out(jsonLine(page))
      return EXIT.fine
    }
    const sessions = await sessionNames(
      store,
      page.items.map((canvas) => canvas.session),
    )
    if (page.items.length === 0) t.note(`No canvas matches in tenant ${store.tenantId}.`)
    else
      printTable(
        t,
        [
          { title: 'session', most: 24, style: 'bold' },
          { title: 'name', most: 40, style: 'bold' },
          { title: 'version', right: true },
          { title: 'bytes', right: true },
          { title: 'state' },
          { title: 'changed (UTC)', style: 'dim' },
          { title: 'by', optional: true },
        ],
        page.items.map(({ name, version, bytes, state, changedAt, by = '', session: of }) => [
          sessions.get(of) ?? '',
          name,
          String(version),
          count(bytes),
          state,
          time(changedAt),
          by,
        ]),
      )
    if (page.cursor !== undefined) t.note(`More: add --cursor '${harmless(page.cursor)}'`)
    return EXIT.fine
  })
}

export function showCanvas(t: Terminal, words: readonly string[], options: CanvasCommandOptions): Promise<Exit> {
  const { url, names } = namedWords(words, PLACE)
  return reading(url, names, options, async (canvas) => print(t, await found(canvas, canvas.get())))
}

export function canvasAt(t: Terminal, words: readonly string[], options: CanvasCommandOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { ...PLACE, version: 'inkfast canvas history' })
  const version = versionWord(names[2])
  return reading(url, names, options, async (canvas) => print(t, await found(canvas, canvas.at({ version }), version)))
}

export function canvasHistory(t: Terminal, words: readonly string[], options: CanvasCommandOptions): Promise<Exit> {
  const { url, names } = namedWords(words, PLACE)
  return reading(url, names, options, async (canvas) => {
    await found(canvas, canvas.at({ version: 0 }))
    const items: CanvasChange[] = []
    const query = { backwards: true, limit: options.last ?? LAST_BY_DEFAULT, ...given({ before: options.before }) }
    for await (const change of canvas.history(query)) {
      t.signal.throwIfAborted()
      items.push(change)
    }
    if (t.json) t.out(jsonLine({ items }))
    else if (items.length === 0) t.note('No version matches.')
    else
      printTable(
        t,
        [
          { title: 'version', right: true, style: 'bold' },
          { title: 'time (UTC)', style: 'dim' },
          { title: 'actor', optional: true },
          { title: 'kind' },
          { title: 'seq', right: true },
          { title: 'bytes', right: true },
          { title: 'patch', most: 60 },
        ],
        items.map(({ version, time: at, actor = '', kind, to, seq, size, patch, erased, damaged }) => [
          String(version),
          time(at),
          actor,
          to === undefined ? kind : `${kind} ${to}`,
          String(seq),
          count(size),
          erased ? '(erased)' : damaged ? '(damaged)' : jsonLine(patch),
        ]),
      )
  })
}

export function canvasDiff(t: Terminal, words: readonly string[], options: CanvasCommandOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { ...PLACE, from: 'inkfast canvas history', to: 'inkfast canvas history' })
  const [from, to] = [versionWord(names[2]), versionWord(names[3])]
  return reading(url, names, options, async (canvas) => {
    const at = (version: number) => found(canvas, canvas.at({ version }), version)
    const [before, after] = [await at(from), await at(to)]
    const ops = diff(before.document, after.document)
    if (t.json) t.out(jsonLine(ops))
    else if (ops.length === 0) t.note(`Versions ${from} and ${to} are equal.`)
    else for (const op of ops) t.out(jsonLine(op))
  })
}

export function patchCanvas(t: Terminal, words: readonly string[], options: CanvasCommandOptions): Promise<Exit> {
  const { url, names } = namedWords(words, { ...PLACE, patch: '' })
  const ops = jsonWord(names[2] as string, 'The patch') as readonly PatchOperation[]
  return changeStore(url, options, async (store) => {
    const canvas = await canvasOf(store, names)
    const { version } = await canvas.patch(ops, given({ expect: options.expect }))
    if (t.json) t.out(jsonLine({ version }))
    else t.out(verdict(t, 'ok', `${canvas.name} is at version ${version}`))
  })
}

const canvasOf = async (store: Store, [session, name]: readonly string[]): Promise<Canvas> =>
  (await findSession(store, session as string)).canvas(name as string)

const reading = (
  url: string | undefined,
  names: readonly string[],
  options: CanvasCommandOptions,
  read: (canvas: Canvas) => Promise<void>,
): Promise<Exit> =>
  withStore(url, async (root) => {
    await read(await canvasOf(await tenantView(root, options.tenant), names))
    return EXIT.fine
  })

async function found(canvas: Canvas, state: Promise<CanvasState | undefined>, version?: number): Promise<CanvasState> {
  const given = await state
  const newest = await newestOf(canvas)
  if (given && newest !== undefined) return given
  const message = newest
    ? `The canvas '${canvas.name}' has no version ${version}; the newest is ${newest}. See the versions with inkfast canvas history.`
    : `There is no canvas '${canvas.name}' in that session. See what exists with inkfast canvas list.`
  throw new CliError('CANVAS_UNKNOWN', EXIT.missing, message)
}

/** A canvas whose document is damaged has a newest version too, and others of it can be read. */
async function newestOf(canvas: Canvas): Promise<number | undefined> {
  for await (const { version } of canvas.history({ backwards: true, limit: 1 })) return version
  return (await canvas.get())?.version
}

function versionWord(text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text)
  throw new CliError('USAGE', EXIT.usage, `'${text}' is not a version. Write a number; inkfast canvas history shows them.`)
}

function print(t: Terminal, state: CanvasState): void {
  if (t.json) t.out(jsonLine(state))
  else for (const line of JSON.stringify(state.document, undefined, 2).split('\n')) t.out(harmless(line))
}
