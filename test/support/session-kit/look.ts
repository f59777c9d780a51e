// Looks at a session from outside: the members that it has, and the answers of a call as text.

/** The methods of a handle and of its namespaces, by their paths. Other members are data. */
export function methodsOf(handle: object, path = ''): readonly string[] {
  return namesOf(handle).flatMap((name) => {
    const member: unknown = Reflect.get(handle, name)
    if (typeof member === 'function') return [path + name]
    return path === '' && isHandle(member) ? methodsOf(member, `${name}.`) : []
  })
}

const PLAIN: readonly unknown[] = [Object.prototype, Array.prototype, Uint8Array.prototype, Date.prototype, null]

const namesOf = (handle: object): readonly string[] => {
  const prototype = Object.getPrototypeOf(handle)
  const inherited = PLAIN.includes(prototype) ? [] : Object.getOwnPropertyNames(prototype)
  return [...new Set([...Object.keys(handle), ...inherited])].filter((name) => name !== 'constructor')
}

/** An object with methods of its own, which are members of a session too. */
export const isHandle = (answer: unknown): answer is object =>
  typeof answer === 'object' &&
  answer !== null &&
  !(Symbol.asyncIterator in answer) &&
  !Array.isArray(answer) &&
  !(answer instanceof Uint8Array) &&
  namesOf(answer).some((name) => typeof Reflect.get(answer, name) === 'function' && name !== 'toJSON')

/** An answer as text: lists are read to their end, bytes are decoded, and a handle tells its data. */
export async function tell(answer: unknown): Promise<string> {
  const awaited = await answer
  if (typeof awaited === 'object' && awaited !== null && Symbol.asyncIterator in awaited) {
    const items: unknown[] = []
    for await (const item of awaited as AsyncIterable<unknown>) items.push(item)
    return JSON.stringify(items, shown)
  }
  return JSON.stringify(isHandle(awaited) ? dataOf(awaited) : awaited, shown) ?? 'undefined'
}

const dataOf = (handle: object): object =>
  Object.fromEntries(
    namesOf(handle).flatMap((name) => (typeof Reflect.get(handle, name) === 'function' ? [] : [[name, Reflect.get(handle, name)]])),
  )

const shown = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? new TextDecoder().decode(value) : value)

export interface Answer {
  readonly code: string
  readonly text: string
}

/** The code of the refusal, or `no error` and the answer as text. */
export async function tried(call: () => unknown): Promise<Answer> {
  try {
    return { code: 'no error', text: await tell(call()) }
  } catch (error) {
    const { code, details } = error as { readonly code?: string; readonly details?: unknown }
    if (code === undefined) throw error
    return { code, text: JSON.stringify(details) }
  }
}
