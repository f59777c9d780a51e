// Opens a store for a command: never creates or migrates it, and always closes it.

import { isDatabase, pathOf } from '../database.ts'
import {
  type EmbedderOption,
  type ErrorCode,
  InkError,
  open,
  type Session,
  type Store,
  type StoreOptions,
  type TenantState,
} from '../index.ts'
import { isId } from '../model/ids.ts'
import { CliError, EXIT, type Exit, usage } from './exit.ts'
import { shortId } from './format.ts'
import { environment, type Terminal, verdict } from './terminal.ts'

/** The store that was named, or INKFAST_URL. */
export function storeUrl(given: string | undefined): string {
  const url = given ?? environment.url
  if (url === undefined || url === '') throw usage('No store given. Pass its path, or set INKFAST_URL.')
  if (url === ':memory:') throw usage("A ':memory:' store exists only inside its program. Pass a file.")
  if (!isDatabase(url)) pathOf(url)
  return url
}

/** The path of the file, or the URL of the database, for commands that inspect the file itself. */
export function storePath(given: string | undefined): string {
  const url = storeUrl(given)
  return isDatabase(url) ? url : pathOf(url)
}

export interface UseOptions {
  /** The store must be writable. */
  readonly write?: boolean
  /** Text from a person is appended, so the redactor is needed. */
  readonly append?: boolean
  readonly embedder?: EmbedderOption | undefined
}

/**
 * Opens without the redactor if nothing is appended: stored data is shown as it is. A key with a secret is found by its masked form, as
 * `inkfast sessions` prints it, so that no secret is typed into a shell.
 */
export async function withStore<T>(
  url: string | undefined,
  work: (store: Store) => Promise<T>,
  { write = false, append = false, embedder }: UseOptions = {},
): Promise<T> {
  // The scheduler is off: a command must not do the work of nodes.
  const own = { create: false, migrate: false, schedule: false, ...(!append && { redact: false as const }), ...(embedder && { embedder }) }
  const store = await openToLook({ ...namedStore(url, write), ...own }, write)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** The store options, with those from the environment. */
function namedStore(given: string | undefined, write: boolean): StoreOptions {
  const url = storeUrl(given)
  const { tenantKey, databaseRequired } = environment
  return {
    url,
    // A command reports what fails by itself, and stderr is its own.
    logger: false,
    ...(databaseRequired && { required: true }),
    // Reading does not require a durable server.
    ...(isDatabase(url) && { ...(tenantKey !== undefined && { tenantKey }), ...(!write && { durability: 'normal' as const }) }),
  }
}

// A login that may not write to a database may still read it.
const LOOKABLE: readonly ErrorCode[] = [
  'FILE_READ_ONLY',
  'FILE_DENIED',
  'FILE_CORRUPT',
  'GUARDS_MISSING',
  'SCHEMA_ALTERED',
  'DATABASE_READ_ONLY',
  'DATABASE_RIGHT_MISSING',
]

// Opens normally, so that no side files are left. Falls back to read-only if the store cannot be written or is damaged.
async function openToLook(options: StoreOptions, write: boolean): Promise<Store> {
  try {
    return await open(options)
  } catch (error) {
    if (error instanceof InkError && error.code === 'NOT_YET' && options.url !== undefined) throw noStoreIn(options.url)
    if (write || !(error instanceof InkError && LOOKABLE.includes(error.code))) throw error
    return open({ ...options, readOnly: true })
  }
}

// A command takes no options for layouts: a folder either contains a store or is refused.
const noStoreIn = (folder: string | URL) =>
  new CliError(
    'NOT_A_STORE',
    EXIT.corrupt,
    `The folder ${folder} contains no store. Pass the file of a store, or a folder with one file per tenant.`,
    {},
  )

/** Returns the view of a tenant with events: a misspelt name must not read as an empty, sound journal. */
export async function knownTenant(store: Store, tenant: string): Promise<Store> {
  const view = store.tenant(tenant)
  const tenants = await store.tenants()
  if (tenants.includes(view.tenantId)) return view
  const those =
    tenants.length === 0 ? 'it has no tenants yet' : `it has ${tenants.slice(0, 10).join(', ')}${tenants.length > 10 ? ', …' : ''}`
  throw new CliError('TENANT_UNKNOWN', EXIT.missing, `There is no tenant ${tenant} in this store; ${those}. Check the name.`, { tenant })
}

export interface ClosedTenant {
  readonly tenant: string
  readonly state: TenantState
}

export interface TenantViews {
  readonly views: readonly Store[]
  /** Skipped tenants, because they are not active. */
  readonly closed: readonly ClosedTenant[]
}

/** Returns the views for a command: the named tenant, or all active ones. */
export async function tenantViews(store: Store, tenant: string | undefined): Promise<TenantViews> {
  if (tenant !== undefined) return { views: [await knownTenant(store, tenant)], closed: [] }
  const views: Store[] = []
  const closed: ClosedTenant[] = []
  for (const id of await store.tenants()) {
    const state = await store.tenantState(id)
    if (state === 'active') views.push(store.tenant(id))
    else closed.push({ tenant: id, state })
  }
  return { views, closed }
}

/** Names the skipped tenants: silence would read as "nothing wrong". */
export function tellClosed(t: Terminal, closed: readonly ClosedTenant[]): void {
  for (const { tenant, state } of closed) t.out(verdict(t, 'warn', `tenant ${tenant} is ${state} and was skipped`))
}

/** Returns the view of one tenant; the default is `main`. */
export const tenantView = async (store: Store, tenant: string | undefined): Promise<Store> =>
  tenant === undefined ? store : knownTenant(store, tenant)

export interface WhoOptions {
  readonly tenant?: string
  readonly actor?: string
}

/** Opens the store for a write, with tenant and actor. */
export const changeStore = (url: string | undefined, { tenant, actor }: WhoOptions, work: (store: Store) => Promise<void>): Promise<Exit> =>
  withStore(
    url,
    async (root) => {
      await work(await tenantView(actor === undefined ? root : root.as(actor), tenant))
      return EXIT.fine
    },
    { write: true, append: true },
  )

/** Returns the keys of sessions by id, for lists; a session without a key is named by the end of its id. */
export async function sessionNames(store: Store, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const id of ids) if (!names.has(id)) names.set(id, (await store.sessions.get(id))?.key ?? shortId(id))
  return names
}

/** Finds a session by id or key. */
export async function findSession(store: Store, name: string): Promise<Session> {
  const session = (isId(name) && (await store.sessions.get(name))) || (await store.sessions.find(name))
  if (session) return session
  throw new CliError(
    'SESSION_UNKNOWN',
    EXIT.missing,
    `There is no session ${name} in tenant ${store.tenantId}. List the sessions with inkfast sessions.`,
    { session: name, tenant: store.tenantId },
  )
}
