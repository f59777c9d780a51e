// A base class for handles whose members come from the features.

/** The constructor of the handle assigns the members. */
export const withMembers = <Members extends object>(): (new () => Members) => class {} as new () => Members
