// The types of values on their way through the store: what may be stored, and what comes back.

// biome-ignore lint/suspicious/noConfusingVoidType: an effect may return nothing
type Empty = null | undefined | void
type Text = string | number | boolean | Date

// biome-ignore lint/suspicious/noExplicitAny: it stands for the parameters of every function
type Never = ((...given: any) => unknown) | (abstract new (...given: any) => unknown) | bigint | symbol

/** The branches of a union that JSON can be made of. Types are looked at to a depth of two, so that recursive ones end. */
type Branches<T> = T extends Empty | Text | readonly unknown[] ? T : T extends Never ? never : [Wrong<T>] extends [never] ? T : never

/** Names the members that JSON cannot be made of: functions, and objects with functions, such as a Map, bytes or an instance of a class. */
type Wrong<T> = { [K in keyof T]-?: unknown extends T[K] ? never : IsWrong<Exclude<T[K], undefined>> extends true ? K : never }[keyof T]

type IsWrong<T> = [T] extends [never] ? false : [Plain<T>] extends [never] ? true : false

type Plain<T> = T extends Empty | Text | readonly unknown[] ? T : T extends Never ? never : [Functions<T>] extends [never] ? T : never

type Functions<T> = {
  [K in keyof T]-?: unknown extends T[K]
    ? never
    : [Exclude<T[K], undefined>] extends [never]
      ? never
      : [Exclude<T[K], undefined>] extends [Never]
        ? K
        : never
}[keyof T]

/**
 * What comes back of a value that was stored: dates are texts, and branches of a union that are no JSON, such as bytes beside a text, are gone.
 * A member that may be undefined keeps its type, because reading it gives undefined, too, where it was left out.
 */
export type Jsonify<T> = unknown extends T ? T : JsonOf<Branches<T>>

type JsonOf<T> = T extends Date
  ? string
  : T extends Empty | Text
    ? T
    : IsList<T> extends true
      ? T extends unknown[]
        ? Jsonify<T[number]>[]
        : readonly Jsonify<T[number & keyof T]>[]
      : { [K in keyof T]: Jsonify<T[K]> }

/** Lists are written as lists, so that the compiler leaves recursive ones for later. It maps tuples at once, and they end. */
type IsList<T> = T extends readonly unknown[] ? (number extends T['length'] ? true : false) : false

/** The type itself, with what cannot be stored replaced. A union is left as it is if one of its branches can be stored. */
type Checked<T> = unknown extends T ? T : [Branches<T>] extends [never] ? ([T] extends [never] ? T : NotJson) : Inside<T, Exclude<T, Empty>>

type Inside<T, Full> = [Full] extends [Text] ? T : IsUnion<Full> extends true ? T : CheckedMembers<Full> | Exclude<T, Full>

type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : false

type CheckedMembers<T> = IsList<T> extends true ? readonly Checked<T[number & keyof T]>[] : { [K in keyof T]: Checked<T[K]> }

/** The compiler shows this text. */
type NotJson = 'This has a function, a Map, bytes or an instance of a class in it, which cannot be stored: return plain JSON'

/** Stands beside what gives a T to be stored. Nothing fits where T has a function, a Map, bytes or an instance of a class in it. */
export type Storable<T> = [T] extends [Checked<T>] ? unknown : NotJson
