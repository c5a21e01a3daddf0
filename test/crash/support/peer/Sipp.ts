import { spawn } from "node:child_process"
import { once } from "node:events"
import { open, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import * as FreePorts from "../../../support/network/FreePorts.ts"
import type { Dialog, SipPeer } from "./SipPeer.ts"

/**
 * SIPp (Debian `sip-tester`) as the trunk: rings, answers after a while, and waits for its CANCEL or BYE, whose arrival
 * it logs. A CANCEL that comes after its answer does not take that answer back (RFC 3261 section 9.2).
 *
 * It takes a message only when its scenario waits for one. An ACK and a BYE that arrive together with such a CANCEL
 * come while it is about to answer the CANCEL. By default it would abort the call at the ACK and be deaf to every later
 * BYE. So here it drops what it does not expect: then it repeats its answer, and we repeat the BYE.
 */
const ringMs = 600

const reply = (status: string, cseq: string, more: ReadonlyArray<string> = [], retransmitted = false) => `
  <send${retransmitted ? ` retrans="500"` : ""}><![CDATA[
    SIP/2.0 ${status}
    [last_Via:]
    [last_From:]
    [last_To:]${cseq.endsWith("INVITE") ? ";tag=[call_number]" : ""}
    [last_Call-ID:]
    CSeq: ${cseq}
    ${more.join("\n    ")}
  ]]></send>`

const nothing = ["Content-Length: 0", ""]
const contact = "Contact: <sip:[local_ip]:[local_port]>"
const description = [
  [contact, "Content-Type: application/sdp", "Content-Length: [len]", ""],
  ["v=0", "o=- 1 1 IN IP4 [local_ip]", "s=-", "c=IN IP4 [media_ip]", "t=0 0"],
  ["m=audio [media_port] RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000", ""]
].flat()
const logs = (what: string) => `<action><log message="${what} [call_id]"/></action>`

const scenario = `<?xml version="1.0" encoding="ISO-8859-1"?>
<scenario name="trunk">
  <recv request="INVITE">
    <action>
      <ereg regexp="[0-9]+" search_in="hdr" header="CSeq:" check_it="true" assign_to="cseq"/>
      <log message="invited [call_id]"/>
    </action>
  </recv>
  ${reply("180 Ringing", "[$cseq] INVITE", [contact, ...nothing])}
  <recv request="CANCEL" timeout="${ringMs}" ontimeout="answer">${logs("cancelled")}</recv>
  ${reply("200 OK", "[$cseq] CANCEL", nothing)}
  ${reply("487 Request Terminated", "[$cseq] INVITE", nothing, true)}
  <recv request="ACK" next="over"/>
  <label id="answer"/>
  ${reply("200 OK", "[$cseq] INVITE", description, true)}
  <recv request="CANCEL" optional="true" next="late"/>
  <recv request="BYE" optional="true" next="bye">${logs("released")}</recv>
  <recv request="ACK"/>
  <recv request="BYE">${logs("released")}</recv>
  <label id="bye"/>
  <send><![CDATA[
    SIP/2.0 200 OK
    [last_Via:]
    [last_From:]
    [last_To:]
    [last_Call-ID:]
    [last_CSeq:]
    Content-Length: 0

  ]]></send>
  <nop next="over"/>
  <label id="late"/>
  ${reply("200 OK", "[$cseq] CANCEL", nothing)}
  <nop next="answer"/>
  <label id="over"/>
  <nop/>
</scenario>
`

const ends: Readonly<Record<string, NonNullable<Dialog["closed"]>>> = {
  cancelled: "cancelled",
  released: "hung up by the service"
}

const pollMs = 50

/** It logs this when its answer got no ACK for 64*T1, after which the line is down (RFC 3261 section 13.3.1.4). */
const gaveUp = "Aborting call on UDP retransmission timeout"

/** Null where `sipp` is not installed. */
export const start = async (folder: string): Promise<SipPeer | null> => {
  const port = await FreePorts.udp()
  const files = {
    scenario: join(folder, "trunk.xml"),
    log: join(folder, "sipp.log"),
    errors: join(folder, "sipp.errors")
  }
  await writeFile(files.scenario, scenario)
  await writeFile(files.log, "")
  const child = spawn(
    "sipp",
    [
      ["-sf", files.scenario, "-i", "127.0.0.1", "-p", String(port), "-nostdin", "-buff_size", "4194304"],
      ["-default_behaviors", "all,-abortunexp"],
      ["-mi", "127.0.0.1", "-mp", String(await FreePorts.udp())],
      ["-trace_logs", "-log_file", files.log, "-trace_err", "-error_file", files.errors]
    ].flat(),
    { cwd: folder, stdio: "ignore", env: { ...process.env, TERM: "xterm" } }
  )
  const started = await Promise.race([
    once(child, "error").then(() => null),
    once(child, "exit").then(async () => {
      throw new Error(`sipp ended at once: ${await readFile(files.errors, "utf8").catch(() => "it said nothing")}`)
    }),
    delay(500, port)
  ])
  if (started === null) return null
  // From here on we cause its exit.
  child.removeAllListeners("exit")

  const dialogs = new Map<string, Dialog>()
  const note = (line: string): void => {
    const [word = "", callId = ""] = line.trim().split(" ")
    if (word === "invited") dialogs.set(callId, { callId, invitedAt: Date.now(), byeTakenAt: null, closed: null })
    const dialog = dialogs.get(callId)
    const how = ends[word]
    if (dialog !== undefined && how !== undefined) dialog.closed ??= how
  }
  const stopping = new AbortController()
  const file = await open(files.log, "r")
  const tail = async (): Promise<void> => {
    let rest = ""
    while (!stopping.signal.aborted) {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(65_536) })
      if (bytesRead === 0) await delay(pollMs)
      const lines = (rest + buffer.toString("latin1", 0, bytesRead)).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) note(line)
    }
    await file.close()
  }
  const tailing = tail()
  return {
    port,
    dialogs,
    errors: async (callId) => {
      const entries = (await readFile(files.errors, "utf8").catch(() => ""))
        .split(/(?=\d{4}-\d\d-\d\d\t)/u)
        .filter((entry) => entry.includes(callId))
      const dialog = dialogs.get(callId)
      if (dialog !== undefined && entries.some((entry) => entry.includes(gaveUp)))
        dialog.closed ??= "hung up by the peer"
      return entries.slice(0, 5).map((entry) => entry.slice(0, 200))
    },
    close: async () => {
      stopping.abort()
      child.kill("SIGKILL")
      await tailing
    }
  }
}
