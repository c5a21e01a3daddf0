/**
 * Refuses worn words in comments (src/README.md#names) and comment lines over 120 columns, and prints the plain words
 * to write instead. Code in backticks and quoted text are not words, so they are not checked.
 */
import { parseSync } from "oxc-parser"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = new URL("..", import.meta.url).pathname
const widest = 120
/** A comment for a tool, which has to be one line. */
const directive = /oxlint-disable/

interface WornWord {
  readonly worn: RegExp
  readonly plain: string
  /** Folders in which the word has a meaning of its own. */
  readonly fineIn?: RegExp
}

/** Folders about sound: a person, a detector or a recorder hears it. */
const sound =
  /^(src|test)\/(media|carrier|telephony|protocol\/(audio|rtp)|ports\/(media|speech)|app\/(boot\/config|testing)|edge\/http\/(call|conference))\/|^test\/(sound|crash|bench|interop|matrix|examples)\/|^scripts\//

/** Folders in which `Tell` is a message between two entities (src/README.md#glossary). */
const tells = /^(src|test)\/(runtime\/actor|telephony)\//

const wornWords: ReadonlyArray<WornWord> = [
  { worn: /\bso long\b/i, plain: "how long, while, as long as" },
  {
    worn: /\bbehind\b(?! (an? |the |its |their |our |one |such a )?(reverse )?(NAT|prox(y|ies)|firewall|load balancer)s?\b)/i,
    plain: "after, later than, below"
  },
  { worn: /\b(stands?|stood|standing)\b(?! (by|still)\b)/i, plain: "is, is kept, holds" },
  { worn: /\b(told|telling)\b/i, plain: "reported, notified, passed on" },
  { worn: /\btells?\b/i, plain: "report, notify, distinguish", fineIn: tells },
  { worn: /\b(hears?|heard)\b/i, plain: "receive, learn", fineIn: sound },
  { worn: /\b(whoever|nobody|somebody|those who|the one who)\b/i, plain: "the party by its name: a caller, no client" },
  { worn: /(?<=^|[.;:] )who\b/i, plain: "the party by its name: a caller, the client" },
  { worn: /^(of|those|that|what|nor)\b/i, plain: "a sentence with a subject" },
  { worn: /\bto be had\b/i, plain: "available" },
  { worn: /\b(go(es)?|went|going) on\b/i, plain: "continue" },
  { worn: /\b(comes? and goes?|by heart)\b/i, plain: "the fact without the picture" }
]

/** A comment begins at an offset of its file; line comments on consecutive lines are one. */
interface Comment {
  readonly start: number
  readonly text: string
}

const commentsOf = (path: string, source: string): ReadonlyArray<Comment> => {
  const found: Array<{ readonly start: number; end: number; readonly isLine: boolean }> = []
  for (const { end, start, type } of parseSync(path, source).comments) {
    const isLine = type === "Line"
    const last = found.at(-1)
    if (isLine && last?.isLine === true && source.slice(last.end, start).trim() === "") last.end = end
    else found.push({ start, end, isLine })
  }
  return found.map(({ end, start }) => ({ start, text: source.slice(start, end) }))
}

const blanked = (text: string) => " ".repeat(text.length)

/** The words of a comment, each at its own offset, on one line. */
const wordsOf = (comment: string) =>
  comment
    .replace(/^\s*(\/\*+|\*+\/|\*(?!\/)|\/\/)|\*\/$/gm, blanked)
    .replace(/`[^`]*`|"[^"]*"|\S*#\S*/g, (literal) => "'".repeat(literal.length))
    .replaceAll("\n", " ")

const problems: Array<string> = []
let count = 0

for (const path of globSync("{src,test,scripts}/**/*.{ts,js}", { cwd: root }).toSorted()) {
  const source = readFileSync(join(root, path), "utf8")
  const lines = source.split("\n")
  const lineOf = (offset: number) => source.slice(0, offset).split("\n").length
  for (const { start, text } of commentsOf(path, source)) {
    count += 1
    const words = wordsOf(text)
    const indent = Math.max(0, words.search(/\S/))
    const sentence = words.slice(indent)
    for (const { fineIn, plain, worn } of wornWords) {
      if (fineIn?.test(path) === true) continue
      for (const match of sentence.matchAll(new RegExp(worn.source.replaceAll(" ", "\\s+"), "gi")))
        problems.push(`${path}:${lineOf(start + indent + match.index)}: "${match[0].replace(/\s+/g, " ")}" → ${plain}`)
    }
    const first = lineOf(start)
    for (let line = first; line <= lineOf(start + text.length); line++)
      if ((lines[line - 1]?.length ?? 0) > widest && !directive.test(lines[line - 1] ?? ""))
        problems.push(`${path}:${line}: wider than ${widest} columns`)
  }
}

console.log(`${count} comments, ${problems.length} worn words or wide lines`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
