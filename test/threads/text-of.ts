// Members of parts of any type.

import type { MessagePart } from '../../src/index.ts'

export const textOf = (part: MessagePart | undefined): string | undefined => (part && 'text' in part ? part.text : undefined)

export const stateOf = (part: MessagePart): string | undefined => ('state' in part ? part.state : undefined)
