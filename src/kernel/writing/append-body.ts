// The command of one appended event, which a repeated key must match. It follows from the stored event, so that `verify` can compute it again.

export interface AppendBody {
  readonly type: string | undefined
  readonly session: string | undefined
  readonly run: string | undefined
  readonly cause: string | undefined
  readonly transient?: boolean | undefined
  readonly data: unknown
  /** The id that the caller chose. Then the time counts too. */
  readonly id?: string | undefined
  readonly at?: number | undefined
  /** Declared references. */
  readonly refs?: readonly string[] | undefined
}

export const appendBody = ({ type, session, run, cause, transient, data, id, at, refs }: AppendBody): object => ({
  type,
  session,
  run,
  cause,
  transient: transient === true ? true : undefined,
  data,
  at: id === undefined ? undefined : at,
  refs: refs && refs.length > 0 ? [...new Set(refs)].sort() : undefined,
})
