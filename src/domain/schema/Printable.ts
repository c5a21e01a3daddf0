/**
 * Text that others wrote, as a person may see it: on a terminal, in a line of a log, in a mail.
 *
 * Nothing of it acts on what shows it: no line break, escape sequence, direction mark or character that does not show,
 * so nobody can forge a line, hide one, or drive a terminal.
 */

/** Controls, what formats without showing (direction marks, joiners, tags), line separators, half surrogate pairs. */
const acting = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Each character that acts becomes its escape in JSON, so that a text in JSON stays the text that it is. */
export const neutral = (text: string): string =>
  text.replace(acting, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join("")
  )

/** Of text that we laid out in lines: each line for itself. */
export const lines = (text: string): string => text.split("\n").map(neutral).join("\n")

const escaped = (unit: number): string =>
  unit === 0x0a ? "\\n" : unit === 0x0d ? "\\r" : unit === 0x09 ? "\\t" : `\\u${unit.toString(16).padStart(4, "0")}`
