import type { SchemaAST } from "effect"
import { codeKey } from "../../../domain/schema/CodedCheck.ts"
import type { Code } from "../../../domain/ErrorCatalogue.ts"

/** The codes that the checks of a request's schemas name: the reasons to refuse a request before any door. */
export const of = (asts: Iterable<SchemaAST.AST>): ReadonlySet<Code> => {
  const codes = new Set<Code>()
  const seen = new Set<SchemaAST.AST>()
  const note = (annotations: Readonly<Record<string, unknown>> | undefined) => {
    const code = annotations?.[codeKey] as Code | undefined
    if (code !== undefined) codes.add(code)
  }
  const check = (one: SchemaAST.Check<never>): void => {
    note(one.annotations)
    if (one._tag === "FilterGroup") for (const inner of one.checks) check(inner)
  }
  const left = [...asts]
  for (let ast = left.pop(); ast !== undefined; ast = left.pop()) {
    if (seen.has(ast)) continue
    seen.add(ast)
    note(ast.context?.annotations)
    for (const one of ast.checks ?? []) check(one)
    for (const link of ast.encoding ?? []) left.push(link.to)
    switch (ast._tag) {
      case "Objects":
        left.push(...ast.propertySignatures.map(({ type }) => type))
        break
      case "Arrays":
        left.push(...ast.elements, ...ast.rest)
        break
      case "Union":
        left.push(...ast.types)
        break
    }
  }
  return codes
}
