/** `npm run openapi`: writes the published document from the declarations (`src/edge/http/openapi.json`). */
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Document from "../src/edge/http/document/Document.ts"

const file = fileURLToPath(new URL("../src/edge/http/openapi.json", import.meta.url))
writeFileSync(file, Document.render())
const { status } = spawnSync("oxfmt", ["-c", "scripts/oxfmtrc.json", file], { stdio: "inherit" })
process.exit(status ?? 1)
