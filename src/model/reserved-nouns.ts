// Nouns of event types. A noun is reserved as a whole, so that a type of an application is not reserved by a later version.

/** Reserved for features to come, besides the nouns of the features that exist. */
export const NOUNS_AHEAD: readonly string[] = [
  ...['value', 'blob', 'checkpoint', 'state', 'snapshot', 'head', 'turn', 'graph', 'thread', 'attachment', 'memory', 'core'],
  ...['vector', 'canvas', 'manifest', 'record', 'retention', 'token', 'usage'],
]

/** Never reserved: applications may rely on them. */
export const FREE_NOUNS: readonly string[] = [
  ...['step', 'execution', 'goal', 'tool', 'model', 'message', 'artifact', 'note', 'plan', 'agent', 'task'],
]

/** The part of a type before its first dot. */
export const nounOf = (type: string): string => type.slice(0, type.indexOf('.'))
