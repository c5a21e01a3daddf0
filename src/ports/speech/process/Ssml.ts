/** The elements that espeak understands, except `audio`. */
const names = "speak|voice|prosody|say-as|mark|sentence|paragraph|s|p|phoneme|sub|emphasis|break|metadata|tts:style"
const attributes = `(?:\\s+[a-z][a-z:_-]*\\s*=\\s*(?:"[^"<>]*"|'[^'<>]*'))*`
const harmlessTag = new RegExp(`^<(?:/(?:${names})\\s*|(?:${names})${attributes}\\s*/?)>$`, "i")
/** Voices are files of espeak, and a name with a directory leads to others. */
const leadsElsewhere = /^<voice\b.*[/\\](?!>$)/is

/**
 * Removes from a tenant's document what makes espeak open files of this machine: `<audio src>` and such names of
 * voices.
 *
 * The list names what stays and not what goes, because espeak takes some letters of other alphabets for those of ASCII,
 * so that many spellings are `audio` to it. Any other tag becomes a space, and so do control characters.
 */
export const harmless = (ssml: string): string =>
  ssml
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g, " ")
    .replaceAll(/<(?:[^<>]*>)?/g, (tag) => (harmlessTag.test(tag) && !leadsElsewhere.test(tag) ? tag : " "))
