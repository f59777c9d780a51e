// What the definitions of commands share.

import { type Command, InvalidArgumentError } from 'commander'
import type { Exit } from './exit.ts'
import type { Terminal } from './terminal.ts'

export type Done = (exit: Exit) => void
export type TerminalOf = (json: boolean) => Terminal
export type Define = (name: string, description: string, examples: readonly string[]) => Command

export const counting =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const n = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (n >= least && n <= most) return n
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER ? `Write a whole number from ${least} on.` : `Write a whole number from ${least} to ${most}.`,
    )
  }
