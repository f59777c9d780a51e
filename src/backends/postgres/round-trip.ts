// Several statements in one message to the server and one back: everything up to the one sync is one transaction, so the tenant that the
// first statement names holds for the rest and for nobody after. This is what `pg` calls a submittable, as its cursors are.

import { hash } from 'node:crypto'
import type { Connection as Wire } from 'pg'
import type { Cells, Step, Value } from './connections.ts'

/** As far as `pg` shows it; its published types know only part. */
interface Protocol {
  parse(query: { readonly text: string; readonly name: string }): void
  bind(config: { readonly statement: string; readonly values: readonly Value[] }): void
  execute(config: { readonly portal: string }): void
  close(config: { readonly type: 'S'; readonly name: string }): void
  sync(): void
  readonly stream: { cork(): void; uncork(): void }
}

// By connection: texts that it has prepared, and those of which an error left open whether it has.
interface Prepared {
  readonly names: Map<string, string>
  readonly unsure: Set<string>
}

// The same text has the same name everywhere, and no other text has it: behind a pooler a connection may carry what somebody else prepared, and
// a name that meant something else there would run the wrong statement, in the wrong role.
const nameOf = (text: string): string => `inkfast_${hash('sha256', text, 'hex').slice(0, 32)}`

// Queries come in many shapes, and the server keeps each: past this many, one more is not worth it.
const PREPARED_MOST = 256
const prepared = new WeakMap<object, Prepared>()

function preparedOn(wire: object): Prepared {
  const known = prepared.get(wire) ?? { names: new Map(), unsure: new Set() }
  prepared.set(wire, known)
  return known
}

export class RoundTrip {
  readonly #steps: readonly Step[]
  readonly #done: (error: unknown, results: readonly (readonly Cells[])[]) => void
  readonly #results: Cells[][]
  #at = 0
  #wire: object | undefined

  constructor(steps: readonly Step[], done: (error: unknown, results: readonly (readonly Cells[])[]) => void) {
    this.#steps = steps
    this.#done = done
    this.#results = steps.map(() => [])
  }

  submit(connection: Wire): Error | null {
    const wire = connection as unknown as Protocol
    this.#wire = connection
    // Buffered, so that it leaves as one packet.
    wire.stream.cork()
    try {
      for (const step of this.#steps) this.#write(wire, step)
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
    return null
  }

  #write(wire: Protocol, { text, values = [], prepared }: Step): void {
    const known = preparedOn(wire)
    const keep = prepared && (known.names.has(text) || known.names.size < PREPARED_MOST)
    const before = keep ? known.names.get(text) : undefined
    const name = before ?? (keep ? nameOf(text) : '')
    // Closing what is not there is allowed; preparing what is there is not.
    const unsure = known.unsure.delete(text)
    if (before !== undefined && unsure) wire.close({ type: 'S', name })
    if (before === undefined || unsure) wire.parse({ text, name })
    if (keep) known.names.set(text, name)
    this.#execute(wire, name, values)
  }

  #execute(wire: Protocol, statement: string, values: readonly Value[]): void {
    wire.bind({ statement, values: values.map(wireValue) })
    wire.execute({ portal: '' })
  }

  handleDataRow(message: { readonly fields: Cells }): void {
    this.#results[this.#at]?.push(message.fields)
  }

  handleCommandComplete(): void {
    this.#at++
  }

  handleError(error: unknown): void {
    if (this.#wire) for (const { text, prepared: keep } of this.#steps) if (keep) preparedOn(this.#wire).unsure.add(text)
    this.#done(error, [])
  }

  handleReadyForQuery(): void {
    this.#done(undefined, this.#results)
  }

  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

// Bytes go as they are; everything else as its text.
const wireValue = (value: Value): Value => {
  if (value === null || typeof value === 'string') return value
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : String(value)
}
