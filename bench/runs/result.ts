// What every effect comes to: what a model or a tool says, 300 bytes of it.

const BYTES = 300
const SAID =
  'The order was shipped on Tuesday and should arrive by Friday; the customer asked to be told when it does. ' +
  'Two of the three documents agree on the address, and the third one is older than both of them. ' +
  'A refund above 100 EUR needs a second pair of eyes, which is why nothing was sent so far. ' +
  'Asked again in an hour.'

export interface Result {
  readonly text: string
}

export const result = (i: number): Result => ({ text: `${i}: ${SAID}`.slice(0, BYTES) })
