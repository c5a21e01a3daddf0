/**
 * A document of a tenant without what makes espeak open files of this machine (`<audio src>`), and without control
 * characters, with which such a tag could be written so that it is not seen.
 */
export const harmless = (ssml: string): string =>
  // oxlint-disable-next-line no-control-regex
  ssml.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/gu, " ").replaceAll(/<[\s/]*audio\b[^>]*>?/giu, " ")
