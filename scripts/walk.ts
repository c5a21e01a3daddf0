/**
 * `npm run walk` shows whether two checkouts answer alike. It starts the service of a checkout, makes 2,000 requests
 * over the whole API by HTTP alone, and records the answers in a file, with the document, the guide, the webhooks and
 * some commands of the operator. Random and time-dependent values are replaced, so that two recordings of one
 * checkout are equal to the byte.
 *
 *     npm run walk -- record <file> [--root <checkout>]
 *     npm run walk -- compare <file> <file> [--only requests,document]
 *
 * `compare` shows the first differences of each section and exits 1 when there are any.
 */
import { readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import * as FreePorts from "../test/support/network/FreePorts.ts"
import * as Certificate from "./demo/Certificate.ts"
import { readable } from "./demo/Json.ts"
import * as OwnService from "./demo/OwnService.ts"
import * as Client from "./walk/Client.ts"
import * as Normal from "./walk/Normal.ts"
import * as Operator from "./walk/Operator.ts"
import * as Peer from "./walk/Peer.ts"
import * as Record from "./walk/Record.ts"
import * as Story from "./walk/Story.ts"
import * as Walk from "./walk/Walk.ts"
import * as Webhooks from "./walk/Webhooks.ts"

const record = async (file: string, root: string): Promise<void> => {
  const startedAt = performance.now()
  const folder = await OwnService.makeFolder()
  const certificate = await Certificate.inFolder(folder)
  const peer = await Peer.start(certificate)
  const ports = await FreePorts.find()
  let log = ""
  const settings = { LOG_LEVEL: "Info", SIGNUP_LIMIT_PER_HOUR: "10000", TRUST_PROXY: "true" }
  const service = OwnService.spawnIn(folder, certificate.caFile, ports, settings, root, (text) => (log += text))
  const stop = async () => {
    peer.stop()
    await service.stop()
  }
  const interrupted = () => void stop().finally(() => process.exit(130))
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted)
  try {
    await service.ready
    const normal = Normal.make()
    const client = Client.make(service.baseUrl, normal)
    const environment = { DATA_DIR: join(folder, "data"), OPERATOR_PORT: String(ports.operator) }
    const operator = Operator.make(root, folder, environment, normal)
    const [documents, pages] = [Client.make(service.baseUrl, normal), Client.make(service.baseUrl, normal)]
    const document = await documents.ask({ method: "GET", path: "/api/docs/openapi.json" })
    await Story.walk(
      Walk.make(client, operator.run, peer, () => log),
      document.json
    )
    const index = await pages.ask({ method: "GET", path: "/api/docs/guide/" })
    const links = [...index.text.matchAll(/href="(\/api\/docs\/guide\/[a-z]+)"/g)].map(([, page]) => page)
    for (const page of new Set(links)) await pages.ask({ method: "GET", path: page ?? "" })
    const found: Record.Record = {
      document: documents.entries,
      requests: client.entries,
      webhooks: Webhooks.entries(peer.webhooks, normal),
      operator: operator.entries,
      guide: pages.entries
    }
    await writeFile(file, `${JSON.stringify(found, null, 1)}\n`)
    const counts = Object.entries(found).map(([section, entries]) => `${section} ${entries.length}`)
    console.log(`${file}: ${counts.join(", ")}; ${Math.round((performance.now() - startedAt) / 1000)} s`)
  } catch (failure) {
    console.error(log.split("\n").slice(-20).join("\n"))
    throw failure
  } finally {
    await stop()
  }
}

const read = async (file: string) => JSON.parse(await readFile(file, "utf8")) as Record.Record

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { root: { type: "string" }, only: { type: "string" } }
})
const [verb, one, other] = positionals
if (verb === "record" && one !== undefined) {
  try {
    await record(resolve(one), resolve(values.root ?? new URL("..", import.meta.url).pathname))
    process.exit(0)
  } catch (failure) {
    console.error(`walk failed: ${readable(failure)}`)
    process.exit(1)
  }
} else if (verb === "compare" && one !== undefined && other !== undefined) {
  const { differences, lines } = Record.compare(await read(one), await read(other), values.only?.split(","))
  console.log(lines.join("\n"))
  process.exit(differences === 0 ? 0 : 1)
} else {
  console.error("usage: walk record <file> [--root <checkout>] | walk compare <file> <file> [--only <section>,…]")
  process.exit(2)
}
