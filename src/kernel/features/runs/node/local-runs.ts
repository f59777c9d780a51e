// The runs that are open in this process. Two handles on one run share the effects that are underway, and a cancellation reaches both at once.

import type { RunId, TenantId } from '../../../../model/ids.ts'
import { enginePart } from '../../../wiring/per-engine.ts'
import { Underway } from '../program/shared-calls.ts'
import type { RunWriter } from '../writing/run-writer.ts'

interface Shared {
  readonly underway: Underway
  readonly handles: Set<RunWriter>
}

export class LocalRuns {
  readonly #runs = new Map<string, Shared>()
  readonly #opening = new Map<string, number>()

  underway(tenant: TenantId, run: RunId): Underway {
    return this.#shared(tenant, run).underway
  }

  isShared(tenant: TenantId, run: RunId): boolean {
    return (this.#runs.get(`${tenant}/${run}`)?.handles.size ?? 0) > 1
  }

  isOpen(tenant: TenantId, run: RunId): boolean {
    return (this.#runs.get(`${tenant}/${run}`)?.handles.size ?? 0) > 0
  }

  /** Whether a handle in this process works on the run and still may. */
  isAtWork(tenant: TenantId, run: RunId): boolean {
    if (this.#opening.has(`${tenant}/${run}`)) return true
    return [...(this.#runs.get(`${tenant}/${run}`)?.handles ?? [])].some(({ signal }) => !signal.aborted)
  }

  /** Covers the time from before the commit that takes the run up until there is a handle. The run does not count as dead in that time. */
  async opening<T>(tenant: TenantId, run: RunId, work: () => Promise<T>): Promise<T> {
    const name = `${tenant}/${run}`
    this.#opening.set(name, (this.#opening.get(name) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (this.#opening.get(name) ?? 1) - 1
      if (left > 0) this.#opening.set(name, left)
      else this.#opening.delete(name)
    }
  }

  add(tenant: TenantId, open: RunWriter): void {
    this.#shared(tenant, open.id).handles.add(open)
  }

  remove(tenant: TenantId, open: RunWriter): void {
    const shared = this.#runs.get(`${tenant}/${open.id}`)
    shared?.handles.delete(open)
    if (shared?.handles.size === 0) this.#runs.delete(`${tenant}/${open.id}`)
  }

  /** Ends the handles of a run that this process ended from outside. */
  end(tenant: TenantId, run: RunId, reason: unknown): void {
    for (const open of this.#runs.get(`${tenant}/${run}`)?.handles ?? []) open.end(reason)
  }

  #shared(tenant: TenantId, run: RunId): Shared {
    const name = `${tenant}/${run}`
    const shared = this.#runs.get(name) ?? { underway: new Underway(), handles: new Set() }
    this.#runs.set(name, shared)
    return shared
  }
}

export const localRunsOf = enginePart(() => new LocalRuns())
