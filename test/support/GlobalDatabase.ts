import { type AddressInfo } from "node:net"
import { createServer } from "node:http"
import { mkdtemp, chmod, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Redacted, Scope } from "effect"
import type { TestProject } from "vitest/node"
import * as EmbeddedPostgres from "../../src/runtime/store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "../../src/runtime/store/embedded/OwnerFile.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly databaseBroker: string
  }
}

/**
 * Starts one Postgres for a whole run of vitest when the first test file asks for it, so a run without a database pays
 * nothing. `TEST_DATABASE_URL` names one that runs already (with a user that may create databases).
 */
export default async function setup(project: TestProject) {
  const scope = Scope.makeUnsafe()
  let directory: string | undefined
  const start = async (): Promise<string> => {
    const given = process.env["TEST_DATABASE_URL"]
    if (given !== undefined) return given
    directory = await mkdtemp(join(tmpdir(), "trunkline-tests-"))
    await chmod(directory, 0o711)
    const postgres = OwnerFile.acquire(directory).pipe(Effect.flatMap((owned) => EmbeddedPostgres.start(owned)))
    return Redacted.value((await Effect.runPromise(Scope.provide(postgres, scope))).url)
  }
  let started: Promise<string> | undefined
  const broker = createServer((_, response) => {
    started ??= start()
    started.then(
      (url) => response.end(url),
      (cause: unknown) => response.writeHead(500).end(String(cause))
    )
  })
  await new Promise<void>((listening) => broker.listen(0, "127.0.0.1", listening))
  project.provide("databaseBroker", `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`)

  return async () => {
    broker.closeAllConnections()
    broker.close()
    await started?.catch(() => undefined)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    if (directory !== undefined) await rm(directory, { recursive: true, force: true })
  }
}
