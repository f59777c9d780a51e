// Logins with just the rights that a test is about. They belong to the whole server, so each goes away with the test that made it.

import { randomBytes } from 'node:crypto'
import { Client, escapeIdentifier, escapeLiteral } from 'pg'
import { later } from '../support/engines.ts'

export interface Login {
  readonly name: string
  readonly password: string
  /** Leads to the database that it was made for. */
  readonly url: string
}

export interface LoginOptions {
  /** Roles that it is a member of. */
  readonly roles?: readonly string[]
  /** What follows `create role … login`, such as `createrole`. */
  readonly with?: string
}

/** `url` is a superuser's, to the database that the login is for. */
export async function makeLogin(url: string, { roles = [], with: options = '' }: LoginOptions = {}): Promise<Login> {
  const name = `inkfast_test_${randomBytes(6).toString('hex')}`
  const password = `pw-${randomBytes(12).toString('base64url')}`
  await asSuperuser(url, async (superuser) => {
    await superuser.query(`create role ${escapeIdentifier(name)} login password ${escapeLiteral(password)} ${options}`)
    for (const role of roles) await superuser.query(`grant ${escapeIdentifier(role)} to ${escapeIdentifier(name)}`)
  })
  later(() =>
    asSuperuser(url, async (superuser) => {
      // What it made or granted goes with it, in this database; it has been in no other.
      await superuser.query(`drop owned by ${escapeIdentifier(name)} cascade`)
      await superuser.query(`drop role ${escapeIdentifier(name)}`)
    }),
  )
  const login = new URL(url)
  login.username = name
  login.password = password
  return { name, password, url: login.href }
}

/** One piece of work on a connection of its own. */
export async function asSuperuser<T>(url: string, work: (superuser: Client) => Promise<T>): Promise<T> {
  const client = new Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
