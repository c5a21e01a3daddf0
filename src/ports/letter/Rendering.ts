import * as Printable from "../../domain/schema/Printable.ts"

/** The content of a letter. Text from outside stays text: it has no effect in a header, in the text or in the HTML. */
export interface Letter {
  /** One line. */
  readonly subject: string
  readonly paragraphs: ReadonlyArray<string>
  /** Null: the reader has nothing to do. */
  readonly link: { readonly label: string; readonly url: string } | null
}

interface Rendered {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/**
 * Renders a letter as text and as HTML with the same content. The HTML loads nothing, is readable without styles, and
 * also shows the URL of its button.
 */
export const render = (letter: Letter): Rendered => {
  const subject = Printable.neutral(letter.subject)
  const paragraphs = letter.paragraphs.map(Printable.neutral)
  const link =
    letter.link === null
      ? null
      : { label: Printable.neutral(letter.link.label), url: Printable.neutral(letter.link.url) }
  return { subject, text: textOf(paragraphs, link), html: htmlOf(subject, paragraphs, link) }
}

const textOf = (paragraphs: ReadonlyArray<string>, link: Letter["link"]): string =>
  [...paragraphs, ...(link === null ? [] : [`${link.label}:\n${link.url}`])].map((part) => `${part}\n`).join("\n")

const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;")

const button =
  "display:inline-block;padding:10px 20px;border-radius:4px;background:#1a4f8b;color:#ffffff;text-decoration:none"

const htmlOf = (subject: string, paragraphs: ReadonlyArray<string>, link: Letter["link"]): string => {
  const parts = paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`)
  if (link !== null) {
    const url = escaped(link.url)
    parts.push(
      `<p><a href="${url}" style="${button}">${escaped(link.label)}</a></p>`,
      `<p style="color:#555555;font-size:13px">Or open this address:<br>${url}</p>`
    )
  }
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(subject)}</title></head>
<body style="margin:24px;font:16px/1.5 sans-serif;color:#222222;max-width:36em">
${parts.join("\n")}
</body>
</html>
`
}

/** Letters of any script, with the characters between the parts of a name; a full stop ends an initial only. */
const nameForm = /^\p{L}[\p{L}\p{M}'’ &,-]*(\.(?= |$)[\p{L}\p{M}'’ &,-]*)*$/u
const nameLength = 40
/** Letters that look like a dot, a colon or a slash: those that modify others, and some of Latin, Han and Canadian. */
const confusable = /[\p{Lm}\ua78f\u01c0-\u01c3\u4e36\u4e3f\u3031-\u3035\u1427\u141f\u1420]/u

/**
 * The name of a person or a company for a letter to a recipient who has not asked for it. A text that does not look
 * like a name (an address, a URL, a sentence of a stranger) is left out.
 */
export const nameOf = (name: string): string | null =>
  name.length <= nameLength && nameForm.test(name) && !confusable.test(name) && !/\b(www|http)/i.test(name)
    ? name
    : null

export const greeting = (firstName: string): string => {
  const name = nameOf(firstName)
  return name === null ? "Hello," : `Hello ${name},`
}
