/** The name of a person who operates the service, as audit lines have it. The command line and the door share it. */
export const form = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,59}$/

export const isName = (text: string): boolean => form.test(text)

export const rule = "has 1 to 60 letters of ASCII, digits and . _ @ -, and begins with a letter or a digit"

/** The header of a request with the token of the file. A token of a person's own has its name. */
export const header = "x-operator-name"

/**
 * The name that the command line sends: `OPERATOR_NAME`, or else the name of the user that runs it, where that is a
 * name here.
 */
export const given = (environment: Readonly<Record<string, string | undefined>>): string | null => {
  const { OPERATOR_NAME: name = "", SUDO_USER: sudo = "", USER: user = "" } = environment
  return name !== "" ? name : ([sudo, user].find(isName) ?? null)
}
