/**
 * `npm run interop`: the service against baresip, SIPp, OpenStack Swift, Postfix, PgBouncer and
 * systemd, and recognition of flite by pocketsphinx, which are installed from the distribution where
 * they are missing and this runs as root. Arguments go to vitest. Ends with `N passed, N failed`.
 */
import { spawnSync } from "node:child_process"

const peers: ReadonlyArray<readonly [program: string, debianPackage: string]> = [
  ["sipp", "sip-tester"],
  ["baresip", "baresip-core"],
  // Network namespaces with a NAT.
  ["ip", "iproute2"],
  ["nft", "nftables"],
  ["flite", "flite"],
  ["pdftotext", "poppler-utils"],
  // A mail server that asks for STARTTLS and a password.
  ["postfix", "postfix"],
  ["saslpasswd2", "sasl2-bin libsasl2-modules"],
  // A database with a standby, and a pooler before it.
  ["pg_ctlcluster", "postgresql"],
  ["pgbouncer", "pgbouncer"],
  // A store with the API of S3.
  ["swift-proxy-server", "swift-proxy"],
  ["swift-account-server", "swift-account"],
  ["swift-container-server", "swift-container"],
  ["swift-object-server", "swift-object"],
  // A machine that systemd boots.
  ["systemd-nspawn", "systemd-container"],
  ["debootstrap", "debootstrap"],
  // The model is no dependency of the program.
  ["pocketsphinx_continuous", "pocketsphinx pocketsphinx-en-us"]
]

const run = (
  command: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
): number => spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...environment } }).status ?? 1

const missing = () => peers.filter(([program]) => spawnSync("which", [program]).status !== 0)

const giveUp = (why: string): never => {
  console.error(`interop: ${why}`)
  console.log("0 passed, 1 failed")
  process.exit(1)
}

if (missing().length > 0) {
  const packages = missing().flatMap(([, name]) => name.split(" "))
  const install = `apt-get install -y --no-install-recommends ${packages.join(" ")}`
  if (process.getuid?.() !== 0 || spawnSync("which", ["apt-get"]).status !== 0)
    giveUp(`${packages.join(" and ")} missing; on Debian or Ubuntu, as root: apt-get update && ${install}`)
  const quiet = { DEBIAN_FRONTEND: "noninteractive" }
  if (run("apt-get", ["update", "-qq"]) !== 0 || run("apt-get", install.split(" ").slice(1), quiet) !== 0)
    giveUp(`${packages.join(" and ")} could not be installed`)
  if (missing().length > 0) giveUp(`${packages.join(" and ")} were installed, but are not in the PATH`)
}
process.exit(run("vitest", ["run", "--config", "test/interop.vitest.config.ts", ...process.argv.slice(2)]))
