// Standard Schema, version 1 (https://standardschema.dev): how zod, valibot, arktype and others say what shape a value has. Only its types,
// written here so that no package is needed.

export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** There for the compiler alone. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly SchemaStep[] | undefined }[] }

export type SchemaStep = PropertyKey | { readonly key: PropertyKey }

/** What a caller may give where the schema is declared. */
export type SchemaInput<S extends StandardSchemaV1> = NonNullable<S['~standard']['types']>['input']

/** What the schema makes of it. */
export type SchemaOutput<S extends StandardSchemaV1> = NonNullable<S['~standard']['types']>['output']
