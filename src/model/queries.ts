// Reads that are more than a range of one index, each with its meaning here, its shortest form in the memory backend and one SQL
// text in every other.

/** How many events of each type a tenant has, and how many bytes of payload they hold; largest first, then by type. */
export interface TypeUsage {
  readonly type: string
  readonly events: number
  readonly bytes: number
  readonly erased: number
}

/** Refused with TENANT_CLOSED when the tenant is not active. */
export interface Queries {
  usageByType(tenant: string): Promise<readonly TypeUsage[]>
}
