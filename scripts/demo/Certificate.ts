import { mkdirSync, statSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { makeAuthority } from "../../test/support/network/TestCertificate.ts"

/** The certificate of the demo's HTTPS server, and the file that makes a service trust it. */
export interface Certificate {
  readonly caFile: string
  readonly cert: string
  readonly key: string
}

const dayMs = 86_400_000
/** The generator's certificates last 30 days. */
const renewAfterMs = 25 * dayMs

/** A folder that outlives the demo, so that a running service needs its `TARGET_CA_FILE` only once. */
export const sharedFolder = (): string => {
  const folder = join(tmpdir(), `trunkline-demo-${userInfo().uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { mode, uid } = statSync(folder)
  if (uid !== userInfo().uid || (mode & 0o022) !== 0) throw new Error(`${folder} belongs to somebody else; remove it`)
  return folder
}

/**
 * The certificate in `folder`, or a new one for 127.0.0.1 by an authority of its own. The authority's key is not kept:
 * a service that trusts it trusts this one server.
 */
export const inFolder = async (folder: string): Promise<Certificate> => {
  const files = { ca: join(folder, "ca.pem"), cert: join(folder, "server.pem"), key: join(folder, "server.key") }
  const made = statSync(files.key, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (Date.now() - made > renewAfterMs) {
    const authority = makeAuthority("Trunkline demo")
    const { cert, key } = authority.issue(["127.0.0.1"])
    await writeFile(files.ca, authority.cert)
    await writeFile(files.cert, cert)
    await writeFile(files.key, key, { mode: 0o600 })
  }
  return { caFile: files.ca, cert: await readFile(files.cert, "utf8"), key: await readFile(files.key, "utf8") }
}
