/** `npm run openapi`: writes the published document from the declarations (`src/http/openapi.json`). */
import { writeFileSync } from "node:fs"
import * as Document from "../src/http/Document.ts"

writeFileSync(new URL("../src/http/openapi.json", import.meta.url), Document.render())
