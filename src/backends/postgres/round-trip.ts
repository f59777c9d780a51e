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

/** The prepared statements of one connection, and the tenant that used it last. */
interface Prepared {
  readonly statements: Map<string, Statement>
  tenant: string | undefined
  /** Counts the changes of tenant. */
  turn: number
}

interface Statement {
  readonly name: string
  /** The turn in which it was prepared; undefined if an error left that open. */
  turn: number | undefined
}

// The name is a digest of the text. Behind a pooler, a connection may have statements of other clients, and a shared name would run the
// wrong statement in the wrong role.
const nameOf = (text: string): string => `inkfast_${hash('sha256', text, 'hex').slice(0, 32)}`

// The server keeps every prepared statement, so their number per connection is limited.
const PREPARED_MOST = 256
const prepared = new WeakMap<object, Prepared>()

function preparedOn(wire: object): Prepared {
  const known = prepared.get(wire) ?? { statements: new Map(), tenant: undefined, turn: 0 }
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
      const known = preparedOn(connection)
      this.#changeTenant(known)
      for (const step of this.#steps) this.#write(wire, known, step)
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
    return null
  }

  /**
   * SQL that was slipped into a tenant's transaction can replace a prepared statement. So each statement is prepared again when the tenant
   * of the connection changes: no tenant runs what another may have left.
   */
  #changeTenant(known: Prepared): void {
    const tenant = this.#steps.find((step) => step.tenant !== undefined)?.tenant
    if (tenant === known.tenant) return
    known.tenant = tenant
    known.turn++
  }

  #write(wire: Protocol, known: Prepared, { text, values = [], prepared }: Step): void {
    const before = known.statements.get(text)
    if (!prepared || (!before && known.statements.size >= PREPARED_MOST)) {
      wire.parse({ text, name: '' })
      this.#execute(wire, '', values)
      return
    }
    const statement = before ?? { name: nameOf(text), turn: undefined }
    if (statement.turn !== known.turn) {
      // Closing a statement that does not exist is allowed; preparing an existing one is not.
      wire.close({ type: 'S', name: statement.name })
      wire.parse({ text, name: statement.name })
      statement.turn = known.turn
      known.statements.set(text, statement)
    }
    this.#execute(wire, statement.name, values)
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
    const statements = this.#wire && preparedOn(this.#wire).statements
    for (const { text } of this.#steps) {
      const statement = statements?.get(text)
      if (statement) statement.turn = undefined
    }
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
