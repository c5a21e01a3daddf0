/** `npm run check`: types, lint, floors, exports, words, the document, format; stops at the first that fails. */
import { spawnSync } from "node:child_process"

const steps: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ["tsc", ["-p", "tsconfig.json"]],
  ["oxlint", ["-c", "scripts/oxlintrc.json", "--type-aware", "--deny-warnings", "src", "test", "scripts"]],
  ["node", ["scripts/floors.ts"]],
  ["node", ["scripts/exports.ts"]],
  ["node", ["scripts/words.ts"]],
  ["node", ["scripts/document.ts"]],
  ["oxfmt", ["-c", "scripts/oxfmtrc.json", "--check", "src", "test", "scripts"]]
]

for (const [command, args] of steps) {
  const result = spawnSync(command, args, { stdio: "inherit" })
  if (result.status !== 0) {
    console.error(`check: ${command} ${args.join(" ")} failed`)
    process.exit(result.status ?? 1)
  }
}
