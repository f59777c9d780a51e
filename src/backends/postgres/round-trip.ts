// Sends several statements in one message and reads one answer. Everything up to the sync is one transaction, so the tenant named first
// holds for the rest and for no later statement. `pg` calls this a submittable, like its cursors.

import { hash } from 'node:crypto'
import type { Connection as Wire } from 'pg'
import type { Cells, Step, Value } from './connections.ts'

/** The part of `pg` that is used; its published types are incomplete. */
interface Protocol {
  parse(query: { readonly text: string; readonly name: string }): void
  bind(config: { readonly statement: string; readonly values: readonly Value[] }): void
  execute(config: { readonly portal: string }): void
  close(config: { readonly type: 'S'; readonly name: string }): void
  sync(): void
  readonly stream: { cork(): void; uncork(): void }
}

// Per connection: prepared texts, and texts that may or may not be prepared after an error.
interface Prepared {
  readonly names: Map<string, string>
  readonly unsure: Set<string>
}

// The name is a digest of the text. Behind a pooler, a connection may have statements of other clients, and a shared name would run the
// wrong statement in the wrong role.
const nameOf = (text: string): string => `inkfast_${hash('sha256', text, 'hex').slice(0, 32)}`

// The server keeps every prepared statement, so their number per connection is limited.
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
    // Buffered, so that it is sent as one packet.
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
    // Closing a statement that does not exist is allowed; preparing an existing one is not.
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

// Bytes are sent as they are, everything else as text.
const wireValue = (value: Value): Value => {
  if (value === null || typeof value === 'string') return value
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : String(value)
}
