import { Marked, type Tokens } from "marked"

/** A heading of a page, and the anchor that a link to it names. */
export interface Heading {
  /** 1 for the title. */
  readonly depth: number
  readonly text: string
  readonly slug: string
}

interface Rendered {
  readonly title: string
  readonly headings: ReadonlyArray<Heading>
  readonly html: string
}

/** The anchors that GitHub gives to headings, in their order: a second one of the same text ends in `-1`. */
const slugger = () => {
  const taken = new Map<string, number>()
  return (text: string): string => {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
      .replaceAll(" ", "-")
    const before = taken.get(slug) ?? 0
    taken.set(slug, before + 1)
    return before === 0 ? slug : `${slug}-${before}`
  }
}

/** The heading's text without marks. */
const textOf = ({ text }: Tokens.Heading): string => text.replace(/[`*]/g, "")

/** The headings of a page in their order. */
export const headings = (markdown: string): ReadonlyArray<Heading> => {
  const slug = slugger()
  return new Marked()
    .lexer(markdown)
    .filter((token): token is Tokens.Heading => token.type === "heading")
    .map((token) => ({ depth: token.depth, text: textOf(token), slug: slug(textOf(token)) }))
}

/** The targets of a page's links, as they are written. */
export const links = (markdown: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type === "link") found.push((token as Tokens.Link).href)
    }
  })
  marked.parse(markdown, { async: false })
  return found
}

/**
 * Renders a page of the guide as HTML. `linkTo` gives the address at which the target of a link is served.
 *
 * HTML in a page is not escaped, so only the project's own pages may be rendered.
 */
export const render = (markdown: string, linkTo: (href: string) => string): Rendered => {
  const slug = slugger()
  const marked = new Marked({
    walkTokens: (token) => {
      if (token.type === "link") (token as Tokens.Link).href = linkTo((token as Tokens.Link).href)
    },
    renderer: {
      heading(token) {
        const inner = this.parser.parseInline(token.tokens)
        const anchor = slug(textOf(token))
        return token.depth === 1
          ? `<h1 id="${anchor}">${inner}</h1>\n`
          : `<h${token.depth} id="${anchor}">${inner} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></h${token.depth}>\n`
      },
      table(token) {
        const row = (cells: ReadonlyArray<Tokens.TableCell>, tag: "th" | "td") =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`
        const body = token.rows.map((cells) => row(cells, "td")).join("\n")
        return `<div class="table"><table>\n<thead>${row(token.header, "th")}</thead>\n<tbody>\n${body}\n</tbody></table></div>\n`
      }
    }
  })
  const html = marked.parse(markdown, { async: false })
  const all = headings(markdown)
  return { title: all.find(({ depth }) => depth === 1)?.text ?? "", headings: all, html }
}
