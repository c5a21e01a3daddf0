/** Postfix from Debian, on loopback: it requires STARTTLS and a password, and keeps its mail for example.com. */
import { execFileSync } from "node:child_process"
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { TestCertificate } from "../../support/network/TestCertificate.ts"

export interface Postfix {
  readonly user: string
  readonly password: string
  /** Every delivered message, unchanged from the mailbox. */
  readonly delivered: () => Promise<ReadonlyArray<string>>
  readonly down: () => void
  readonly up: () => void
}

const user = "trunkline@mail.test"
const password = "a password of interop"

const main = (folder: string) => `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/log
maillog_file_prefixes = /tmp, /var
myhostname = mail.test
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
alias_database =
smtputf8_enable = yes
smtpd_tls_security_level = encrypt
smtpd_tls_cert_file = ${folder}/cert.pem
smtpd_tls_key_file = ${folder}/key.pem
smtpd_sasl_auth_enable = yes
smtpd_sasl_path = smtpd
smtpd_tls_auth_only = yes
cyrus_sasl_config_path = ${folder}/sasl
smtpd_recipient_restrictions = permit_sasl_authenticated, reject
smtpd_relay_restrictions = permit_sasl_authenticated, reject
virtual_mailbox_domains = example.com
virtual_mailbox_base = ${folder}/mail
virtual_mailbox_maps = static:all
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
virtual_minimum_uid = 100
`

const services = (port: number) => `
127.0.0.1:${port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

export const start = async (folder: string, port: number, { cert, key }: TestCertificate): Promise<Postfix> => {
  const at = (name: string) => join(folder, name)
  for (const name of ["queue", "data", "mail", "sasl"]) await mkdir(at(name), { recursive: true })
  await chmod(at("mail"), 0o777)
  await writeFile(at("cert.pem"), cert)
  await writeFile(at("key.pem"), key, { mode: 0o600 })
  await writeFile(at("main.cf"), main(folder))
  await writeFile(at("master.cf"), services(port))
  await writeFile(
    at("sasl/smtpd.conf"),
    `pwcheck_method: auxprop\nauxprop_plugin: sasldb\nmech_list: PLAIN LOGIN\nsasldb_path: ${at("sasl/db")}\n`
  )
  const [name = "", realm = ""] = user.split("@")
  execFileSync("saslpasswd2", ["-p", "-c", "-f", at("sasl/db"), "-u", realm, name], { input: password })
  execFileSync("chown", ["postfix", at("sasl/db"), at("data")])
  const control = (command: string) => void execFileSync("postfix", ["-c", folder, command], { stdio: "ignore" })
  control("start")
  return {
    user,
    password,
    delivered: async () => {
      const all = await readFile(at("mail/all"), "utf8").catch(() => "")
      return all.split(/^From /m).slice(1)
    },
    down: () => control("stop"),
    up: () => control("start")
  }
}
