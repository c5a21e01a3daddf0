/** A tenant's name as a slug: lower-case ASCII letters and digits with single dashes, at most 60. */
export const of = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-+|-+$/g, "") || "tenant"
