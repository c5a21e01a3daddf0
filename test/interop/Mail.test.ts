import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Postfix from "./peer/Postfix.ts"
import * as Service from "./peer/Service.ts"

const authority = TestCertificate.makeAuthority()
let folder: string
let postfix: Postfix.Postfix
let service: Service.Service

beforeAll(async () => {
  folder = await Service.makeFolder()
  const port = await Service.freePort()
  postfix = await Postfix.start(folder, port, authority.issue(["localhost"]))
  await writeFile(join(folder, "ca.pem"), authority.cert)
  service = await Service.start(authority.cert, {
    SMTP_URL: `smtp://localhost:${port}`,
    SMTP_USER: postfix.user,
    SMTP_PASSWORD: postfix.password,
    SMTP_CA_FILE: join(folder, "ca.pem"),
    MAIL_FROM: "Telefon Größe <no-reply@mail.test>"
  })
}, 180_000)

afterAll(async () => {
  await service.stop()
  postfix.down()
  await rm(folder, { recursive: true, force: true })
})

const post = (path: string, body: object) =>
  fetch(`${service.baseUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })

const signUp = async (name: string) => {
  const email = `${name}@example.com`
  const names = { first_name: "Łukasz", last_name: "Ö" }
  const answer = await post("/v1/signup", { email, password: "correct horse battery", tenant_name: name, ...names })
  expect(answer.status).toBe(201)
  return email
}

const letterTo = (email: string, withinMs = 30_000) =>
  Service.eventually(
    `a letter to ${email}`,
    async () => (await postfix.delivered()).find((message) => message.includes(`<${email}>`)),
    withinMs
  )

/** Decodes quoted-printable, RFC 2045 section 6.7, as far as ASCII needs it. */
const tokenIn = (message: string): string =>
  /verify-email#([\w-]{43})/.exec(message.replaceAll("=\n", "").replaceAll("=23", "#"))?.[1] ?? ""

describe("Postfix", () => {
  it("takes our letters over STARTTLS with a password, and the link in them works", async () => {
    const message = await letterTo(await signUp("ada"))
    expect(message).toMatch(/^Received: .*\n.*with ESMTPSA/m)
    expect(message).toMatch(/^Message-ID: <[0-9a-f]{32}@127\.0\.0\.1>$/im)
    expect(message).toMatch(/^From: =\?UTF-8\?.*<no-reply@mail.test>$/im)
    const answer = await post("/v1/auth/verify-email", { token: tokenIn(message) })
    expect(answer.status).toBe(200)
  })

  it("gets what it could not take when it is back, once, also when we were killed meanwhile", async () => {
    postfix.down()
    const emails = [await signUp("bob"), await signUp("carol")]
    await Service.sleep(2_000)
    await service.crash()
    emails.push(await signUp("dave"))
    postfix.up()
    for (const email of emails) await letterTo(email, 50_000)
    const all = await postfix.delivered()
    for (const email of emails) expect(all.filter((message) => message.includes(`<${email}>`))).toHaveLength(1)
  }, 120_000)
})
