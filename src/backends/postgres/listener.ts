// The one connection on which a node sends notifications to other nodes and receives theirs. Opened when first needed and reopened with
// backoff when lost. Reports itself as deaf if no notification comes through, as behind a transaction pooler.

import { randomUUID } from 'node:crypto'
import type { Connections, Ear, Step } from './connections.ts'

const CHANNEL = 'inkfast'
const TELL_EVERY_MS = 10
const AGAIN_MS = 1000
const AGAIN_MOST_MS = 30_000
const ECHO_MS = 1000
const TELL_MS = 5000
const UNHEARD = 'no notification comes through, as behind a transaction pooler; set listenUrl to the server itself'

export class Listener {
  readonly #connections: Connections
  readonly #heard: (name: string) => void
  readonly #opened: () => void
  readonly #echo = `echo-${randomUUID()}`
  readonly #due = new Set<string>()
  #ear: Ear | undefined
  #opening: Promise<void> | undefined
  #held = false
  #closed = false
  #deaf: string | undefined
  #patience = AGAIN_MS
  #again: NodeJS.Timeout | undefined
  #telling: Promise<void> | undefined
  #isChecking = false
  /** Ends the wait for this node's own echo. */
  #stopWaiting: (() => void) | undefined

  /** `opened` is called whenever listening begins: notifications sent before that were missed. */
  constructor(connections: Connections, heard: (name: string) => void, opened: () => void) {
    this.#connections = connections
    this.#heard = heard
    this.#opened = opened
  }

  /** Why no notification is heard; undefined while they are. */
  get deaf(): string | undefined {
    return this.#deaf
  }

  /** Notifications of other nodes arrive, as far as this node knows. */
  get hears(): boolean {
    return this.#ear !== undefined && this.#deaf === undefined
  }

  open(): void {
    if (this.#closed || this.#ear || this.#opening || this.#again || !this.#connections.listen) return
    this.#opening = this.#listen(this.#connections.listen).catch((error: unknown) => this.#lost(error))
  }

  async #listen(listen: NonNullable<Connections['listen']>): Promise<void> {
    let [lost, hears] = [false, false]
    const echo = Promise.withResolvers<void>()
    this.#stopWaiting = echo.resolve
    const heard = (name: string) => {
      if (name !== this.#echo) return this.#heard(name)
      hears = true
      this.#deaf = undefined
      echo.resolve()
    }
    const ear = await listen(CHANNEL, heard, (error) => {
      lost = true
      echo.resolve()
      this.#lost(error)
    })
    this.#opened()
    try {
      await this.#callOut(echo.promise)
    } catch (error) {
      await ear.close()
      throw error
    }
    if (lost) return
    this.#opening = undefined
    if (this.#closed) return ear.close()
    this.#ear = ear
    this.#patience = AGAIN_MS
    if (!hears) this.#deaf = UNHEARD
    ear.hold(this.#held)
    if (this.#due.size > 0) this.#telling ??= this.#tellSoon()
  }

  /**
   * A transaction pooler accepts LISTEN and passes nothing on, so the node sends an echo to itself. Another connection sends it while the
   * listening one is idle: during a transaction of its own, a notification would come through even there.
   */
  async #callOut(echo: Promise<void>): Promise<void> {
    const stop = this.#stopWaiting
    const timer = setTimeout(() => stop?.(), ECHO_MS).unref()
    let failure: unknown
    // If no connection is free, the echo is sent late and heard then.
    this.#sendEcho().catch((error: unknown) => {
      failure = error
      stop?.()
    })
    await echo
    clearTimeout(timer)
    if (failure !== undefined) throw failure
  }

  async #sendEcho(): Promise<void> {
    const connection = await this.#connections.acquire()
    let broken = true
    try {
      await connection.run([notify(this.#echo)], ECHO_MS)
      broken = false
    } finally {
      connection.release(broken)
    }
  }

  #lost(error: unknown): void {
    this.#ear = undefined
    this.#opening = undefined
    this.#deaf = error instanceof Error ? error.message : String(error)
    if (this.#closed || this.#again) return
    this.#again = setTimeout(() => {
      this.#again = undefined
      this.open()
    }, this.#patience).unref()
    this.#patience = Math.min(this.#patience * 2, AGAIN_MOST_MS)
  }

  /** Sends soon, each name at most once in 10 ms, and again until it was sent: other nodes do not look for themselves. */
  tell(name: string): void {
    this.#due.add(name)
    this.open()
    this.#telling ??= this.#tellSoon()
  }

  /** Finds out whether the connection still answers. Half of it may be gone, and then nothing is heard and nothing fails. */
  check(): void {
    this.#isChecking = true
    this.#telling ??= this.#tellSoon()
  }

  async #tellSoon(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, TELL_EVERY_MS))
    const isSent = await this.#tellNow()
    this.#telling = this.#due.size > 0 && isSent && !this.#closed ? this.#tellSoon() : undefined
  }

  /** False if the names could not be sent. They are sent with the next one, or once the node listens again. */
  async #tellNow(): Promise<boolean> {
    const names = [...this.#due]
    if (names.length === 0 && !this.#isChecking) return true
    this.#due.clear()
    this.#isChecking = false
    const ear = this.#ear
    try {
      if (ear) await ear.tell(names)
      else await this.#tellBeside(names)
      return true
    } catch (error) {
      for (const name of names) this.#due.add(name)
      if (this.#ear && this.#ear === ear) this.#lost(error)
      // The next attempt takes a connection of the pool.
      return ear !== undefined
    }
  }

  /** On a connection of the pool, while the one that listens is being opened, or cannot be. */
  async #tellBeside(names: readonly string[]): Promise<void> {
    if (!this.#connections.listen || names.length === 0) return
    const connection = await this.#connections.acquire()
    let broken = true
    try {
      await connection.run(names.map(notify), TELL_MS)
      broken = false
    } finally {
      connection.release(broken)
    }
  }

  /** Whether the connection keeps the program alive. */
  hold(held: boolean): void {
    this.#held = held
    this.#ear?.hold(held)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#again)
    this.#stopWaiting?.()
    await this.#opening
    await this.#telling
    await this.#tellNow()
    await this.#ear?.close()
  }
}

const notify = (name: string): Step => ({ text: 'select pg_notify($1, $2)', values: [CHANNEL, name] })
