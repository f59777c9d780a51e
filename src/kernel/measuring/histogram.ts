// A histogram of durations in constant memory. Buckets grow by an eighth, so a percentile is right to within about 6 %.

const STEP = Math.log(1.125)
const SMALLEST_MS = 0.001
const BUCKETS = 160

export interface Latency {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export class Histogram {
  readonly #counts = new Float64Array(BUCKETS)
  #count = 0
  #max = 0

  add(ms: number): void {
    const bucket = ms <= SMALLEST_MS ? 0 : Math.min(BUCKETS - 1, Math.floor(Math.log(ms / SMALLEST_MS) / STEP))
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#count++
    if (ms > this.#max) this.#max = ms
  }

  read(): Latency {
    return { count: this.#count, p50: this.#percentile(0.5), p95: this.#percentile(0.95), p99: this.#percentile(0.99), max: this.#max }
  }

  #percentile(part: number): number {
    if (this.#count === 0) return 0
    let left = Math.ceil(this.#count * part)
    for (let i = 0; i < BUCKETS; i++) {
      left -= this.#counts[i] as number
      if (left <= 0) return Math.min(this.#max, SMALLEST_MS * Math.exp((i + 0.5) * STEP))
    }
    return this.#max
  }
}
