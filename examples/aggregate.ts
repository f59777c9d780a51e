// An account of your own on the journal: the session is the aggregate, a fold computes its state, and a guard refuses a decision on old state.
//
// Run it after `npm run build` with: node examples/aggregate.ts [file]

import { InkError, open, type Session, type Store } from 'inkfast'

interface Account {
  readonly balance: number
  /** The last seq that the state was folded from. */
  readonly seq: number
}

/** Folds the events of the session. An erased event has no data and counts as nothing. */
async function load(store: Store, session: Session): Promise<Account> {
  let account: Account = { balance: 0, seq: 0 }
  for await (const { seq, type, data } of store.events({ session: session.id })) {
    const { amount = 0 } = (data ?? {}) as { readonly amount?: number }
    const change = type === 'account.credited' ? amount : type === 'account.debited' ? -amount : 0
    account = { balance: account.balance + change, seq }
  }
  return account
}

/** Decides on the state it read. If another writer was first, it reads and decides again. */
async function withdraw(store: Store, session: Session, amount: number): Promise<boolean> {
  for (;;) {
    const { balance, seq } = await load(store, session)
    if (balance < amount) return false
    try {
      await session.append('account.debited', { amount }, { after: seq })
      return true
    } catch (error) {
      if (!(error instanceof InkError && error.code === 'HEAD_MOVED')) throw error
    }
  }
}

await using store = await open(process.argv[2] ?? ':memory:')
const session = await store.session('account/4711')
await session.append('account.credited', { amount: 100 })

// Five withdrawals at once; the balance is enough for two of them.
const outcomes = await Promise.all(Array.from({ length: 5 }, () => withdraw(store, session, 40)))
const paid = outcomes.filter(Boolean).length
const { balance } = await load(store, session)
console.log(`paid ${paid} of ${outcomes.length}, ${balance} left`)
if (paid !== 2 || balance !== 20) process.exitCode = 1

// Without a guard: the condition stands in the event, and every reader decides the same in the order of the journal.
const seat = await store.session('seat/12A')
await Promise.all(['ada', 'bob', 'eve'].map((who) => seat.append('seat.requested', { who })))
let owner: string | undefined
for await (const { data } of store.events({ session: seat.id, types: ['seat.requested'] })) owner ??= (data as { who: string }).who
console.log(`the seat belongs to ${owner}`)
if (owner === undefined) process.exitCode = 1
