// A child process of the demo: it reports lines of JSON. The demo kills, stops and continues it, and always reaps it.

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { demoProgram } from './program-file.ts'

// Far more than any step takes. Beyond it, the demo fails with an error.
const PATIENCE_MS = 60_000

export class Child<Line extends { readonly said: string }> {
  readonly lines: Line[] = []
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #closed: Promise<unknown>
  #heard: () => void = () => {}
  #ended = false
  #failure = ''

  constructor(name: 'order', plan: unknown) {
    this.#process = spawn(process.execPath, [demoProgram(name), JSON.stringify(plan)], { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#closed = once(this.#process, 'close').then(() => {
      this.#ended = true
      this.#heard()
    })
    this.#process.stdin.on('error', () => {})
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#failure += text
    })
    let rest = ''
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      // A line cut off by a kill does not count.
      rest = lines.pop() ?? ''
      this.lines.push(...lines.map((line) => JSON.parse(line) as Line))
      this.#heard()
    })
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** Waits until the child reports this. */
  async says<S extends Line['said']>(said: S, signal: AbortSignal): Promise<Extract<Line, { readonly said: S }>> {
    const late = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
    for (;;) {
      const found = this.lines.find((line) => line.said === said)
      if (found) return found as Extract<Line, { readonly said: S }>
      if (this.#ended) throw new Error(`the agent ended before it was ${said}: ${/^\w*Error.*$/m.exec(this.#failure)?.[0] ?? 'no reason'}`)
      signal.throwIfAborted()
      if (late.aborted) throw new Error(`the agent was not ${said} within ${PATIENCE_MS} ms`)
      const heard = new Promise<void>((resolve) => {
        this.#heard = resolve
      })
      const stop = () => this.#heard()
      late.addEventListener('abort', stop, { once: true })
      await heard
      late.removeEventListener('abort', stop)
    }
  }

  stop(): void {
    this.#process.kill('SIGSTOP')
  }

  /** Continues the process from where it stopped. */
  goOn(): void {
    this.#process.kill('SIGCONT')
    this.#process.stdin.end('\n')
  }

  /** Kills without warning. The process is gone and reaped when this resolves. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#closed
  }

  /** Waits until the process ends. */
  async ends(): Promise<void> {
    await this.#closed
  }
}
