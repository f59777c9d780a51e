// A name that nobody handles: something has waited for it, and no live worker takes it.

export interface Unhandled {
  /** Runs of a name, items of a queue, or processes of a kind. */
  readonly kind: 'run' | 'item' | 'process'
  /** The name of the runs, the queue of the items, or the kind of the processes; empty for processes that are to be abandoned. */
  readonly name: string
  /** Store time since which the first of them has waited. */
  readonly since: number
}

/** What was found, and what to do about it. */
export function unhandledText({ kind, name }: Unhandled): { readonly found: string; readonly todo: string } {
  const told = `'${name}'`
  const start = (call: string) => `Start a process that calls ${call}.`
  if (kind === 'run') return { found: `nobody handles runs named ${told}`, todo: start(`store.work({ ${told}: … })`) }
  if (kind === 'item') return { found: `nobody handles items of queue ${told}`, todo: start(`store.queue(${told}).work(…)`) }
  const ofKind = name === '' ? 'nobody abandons processes' : `nobody handles processes of kind ${told}`
  return { found: ofKind, todo: start(`store.processes.work({ ${name === '' ? '' : `${told}: `}… })`) }
}
