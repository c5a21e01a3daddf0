/**
 * Makes text from outside safe to show: on a terminal, in a log line, in a mail.
 *
 * No character in it acts on the display: no line break, escape sequence, direction mark or invisible character. So it
 * cannot forge or hide a line, or control a terminal.
 */

/** Controls, invisible format characters (direction marks, joiners, tags), line separators, half surrogate pairs. */
const acting = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Replaces each such character by its JSON escape, so that a text in JSON keeps its meaning. */
export const neutral = (text: string): string =>
  text.replace(acting, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join("")
  )

/** The same for text that this service laid out in lines: each line separately. */
export const lines = (text: string): string => text.split("\n").map(neutral).join("\n")

/**
 * Characters that show nothing by themselves: white space, controls, formats, half surrogate pairs, unassigned code
 * points, marks without a letter, and letters that are drawn as nothing (Hangul fillers, the blank Braille cell).
 */
const invisible = /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Whether a person who reads the text sees anything of it. */
export const isVisible = (text: string): boolean => text.replace(invisible, "") !== ""

const escaped = (unit: number): string =>
  unit === 0x0a ? "\\n" : unit === 0x0d ? "\\r" : unit === 0x09 ? "\\t" : `\\u${unit.toString(16).padStart(4, "0")}`
