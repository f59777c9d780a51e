// A copy of a JSON value that shares nothing with it.

import { setMember } from './patched-document.ts'

export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson) as T
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) setMember(copy, key, copyJson((value as Record<string, unknown>)[key]))
  return copy as T
}
