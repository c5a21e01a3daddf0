import { escaped, sourceHash } from "../answer/StaticPage.ts"
import type { Heading } from "./Markdown.ts"

/** A page and its place among the others. */
interface Shown {
  readonly title: string
  readonly path: string
  readonly headings: ReadonlyArray<Heading>
  readonly html: string
}

interface Place {
  readonly title: string
  /** The path that links name. */
  readonly path: string
}

/** Where a page leads. */
interface Places {
  readonly home: Place
  /** The order of the index, which is not among them. */
  readonly all: ReadonlyArray<Place>
  /** The path of the interactive page of the API. */
  readonly reference: string
}

const style = `
:root {
  color-scheme: light dark;
  --text: #1f2328; --faint: #59636e; --line: #d1d9e0; --ground: #ffffff; --shade: #f6f8fa; --link: #0b5cad;
  --mark: #9a6700; --mark-ground: #fff8e5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e9ee; --faint: #9aa4b0; --line: #30363d; --ground: #0f1318; --shade: #171c23; --link: #6cb2ff;
    --mark: #e3b341; --mark-ground: #24200f;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 74rem; margin: 0 auto; }
nav.pages { padding: 1.5rem 1rem; border-right: 1px solid var(--line); font-size: 0.925rem; position: sticky; top: 0;
  align-self: start; height: 100vh; overflow-y: auto; }
nav.pages .home { display: block; font-weight: 650; color: var(--text); margin-bottom: 0.25rem; }
nav.pages ul { list-style: none; margin: 0; padding: 0; }
nav.pages > ul { margin-top: 1rem; }
nav.pages li { margin: 0.15rem 0; }
nav.pages a { display: block; padding: 0.1rem 0.5rem; border-radius: 0.3rem; }
nav.pages a[aria-current] { background: var(--shade); color: var(--text); font-weight: 600; }
nav.pages ul ul { margin: 0.15rem 0 0.5rem 0.5rem; border-left: 1px solid var(--line); padding-left: 0.25rem; }
nav.pages ul ul a { color: var(--faint); }
nav.pages .depth-3 a { padding-left: 1.25rem; }
main { padding: 2rem 2.5rem 4rem; }
h1, h2, h3 { line-height: 1.25; margin: 2.2em 0 0.6em; }
h1 { font-size: 1.9rem; margin-top: 0; }
h2 { font-size: 1.35rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.1rem; }
p, ul, ol, blockquote { max-width: 44rem; }
.anchor { color: var(--faint); opacity: 0; font-weight: 400; }
h2:hover .anchor, h3:hover .anchor, .anchor:focus { opacity: 1; }
code { font: 0.875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--shade);
  padding: 0.1em 0.35em; border-radius: 0.3rem; }
pre { background: var(--shade); padding: 0.9rem 1rem; border-radius: 0.5rem; overflow-x: auto; }
pre code { background: none; padding: 0; }
.table { overflow-x: auto; margin: 1rem 0; }
table { width: 100%; border-collapse: collapse; font-size: 0.925rem; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.8rem 0.4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--faint); white-space: nowrap; }
td:first-child code { white-space: nowrap; }
blockquote { margin: 1rem 0; padding: 0.1rem 1rem; border-left: 3px solid var(--mark); background: var(--mark-ground); }
footer { display: flex; justify-content: space-between; gap: 1rem; margin-top: 4rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
@media (max-width: 52rem) {
  .page { display: block; }
  nav.pages { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  nav.pages > ul { columns: 2; }
  nav.pages ul ul { display: none; }
  main { padding: 1.5rem 1rem 3rem; }
  td:first-child code { white-space: normal; }
}
@media print { nav.pages, footer, .anchor { display: none; } .page { display: block; } }
`

/** The page needs its own style and nothing else: no script, no font, no picture, no network. */
export const policy: ReadonlyArray<string> = [`style-src ${sourceHash(style)}`]

const link = (path: string, title: string, current = false): string =>
  `<a href="${escaped(path)}"${current ? ' aria-current="page"' : ""}>${escaped(title)}</a>`

const contents = (headings: ReadonlyArray<Heading>): string => {
  const sections = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (sections.length === 0) return ""
  const items = sections.map(({ depth, slug, text }) => `<li class="depth-${depth}">${link(`#${slug}`, text)}</li>`)
  return `<ul>${items.join("")}</ul>`
}

/** Renders the whole document of one page. */
export const page = (shown: Shown, { all, home, reference }: Places): string => {
  const at = all.findIndex(({ path }) => path === shown.path)
  const previous = at > 0 ? all[at - 1] : at === 0 ? home : undefined
  const next = all[at + 1]
  const items = all.map(({ path, title }) => {
    const isCurrent = path === shown.path
    return `<li>${link(path, title, isCurrent)}${isCurrent ? contents(shown.headings) : ""}</li>`
  })
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(shown.title)} · Trunkline</title>
<style>${style}</style>
</head>
<body>
<div class="page">
<nav class="pages" aria-label="Pages">
<a class="home" href="${escaped(home.path)}"${shown.path === home.path ? ' aria-current="page"' : ""}>Trunkline: ${escaped(home.title.toLowerCase())}</a>
${link(reference, "API reference")}
<ul>
${items.join("\n")}
</ul>
</nav>
<main>
${shown.html}<footer>
<span>${previous === undefined ? "" : `← ${link(previous.path, previous.title)}`}</span>
<span>${next === undefined ? "" : `${link(next.path, next.title)} →`}</span>
</footer>
</main>
</div>
</body>
</html>
`
}
