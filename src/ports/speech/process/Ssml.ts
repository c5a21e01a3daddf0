/** Those that espeak understands, but for `audio`. */
const names = "speak|voice|prosody|say-as|mark|sentence|paragraph|s|p|phoneme|sub|emphasis|break|metadata|tts:style"
const attributes = `(?:\\s+[a-z][a-z:_-]*\\s*=\\s*(?:"[^"<>]*"|'[^'<>]*'))*`
const harmlessTag = new RegExp(`^<(?:/(?:${names})\\s*|(?:${names})${attributes}\\s*/?)>$`, "i")
/** Voices are files of espeak: a name with a directory leads to others. */
const leadsElsewhere = /^<voice\b.*[/\\](?!>$)/is

/**
 * A document of a tenant without what makes espeak open files of this machine, which `<audio src>` and names of voices do.
 *
 * What stays is listed, not what goes: espeak takes some letters of other alphabets for those of ASCII, so that many
 * spellings are `audio` to it. Any other tag becomes a space, and so do control characters.
 */
export const harmless = (ssml: string): string =>
  ssml
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g, " ")
    .replaceAll(/<(?:[^<>]*>)?/g, (tag) => (harmlessTag.test(tag) && !leadsElsewhere.test(tag) ? tag : " "))
