/** Debian's SIPp as a peer: scenarios, their runs and their counts. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"

export interface Run {
  readonly child: ChildProcess
  /** Its exit code and the counts of its last statistics line. */
  readonly finished: Promise<{
    readonly code: number | null
    readonly successful: number
    readonly failed: number
    readonly errors: string
  }>
}

export interface Options {
  readonly folder: string
  readonly name: string
  readonly scenario: string
  /** Its address; default: loopback. */
  readonly address?: string
  /** The words before its command. */
  readonly prefix?: ReadonlyArray<string>
  readonly arguments: ReadonlyArray<string>
}

/** Reads a column of `-trace_stat`. */
const column = (lines: ReadonlyArray<string>, name: string): number => {
  const at = lines[0]?.split(";").indexOf(name) ?? -1
  return Number(lines.at(-1)?.split(";")[at] ?? "NaN")
}

export const run = async ({ folder, name, scenario, ...options }: Options): Promise<Run> => {
  const file = join(folder, `${name}.xml`)
  const statistics = join(folder, `${name}.csv`)
  const errors = join(folder, `${name}.log`)
  await writeFile(file, scenario)
  const { address = "127.0.0.1", prefix = [] } = options
  const [program, ...words] = [...prefix, "sipp"]
  const child = spawn(
    program,
    [
      ...words,
      "-sf",
      file,
      "-nostdin",
      "-trace_stat",
      "-stf",
      statistics,
      "-fd",
      "1",
      "-trace_err",
      "-error_file",
      errors,
      "-i",
      address,
      "-mi",
      address,
      ...options.arguments
    ],
    { cwd: folder, stdio: ["ignore", "ignore", "ignore"] }
  )
  const finish = async () => {
    const [code] = (await once(child, "exit")) as [number | null]
    const lines = (await readFile(statistics, "utf8").catch(() => "")).trim().split("\n")
    return {
      code,
      successful: column(lines, "SuccessfulCall(C)"),
      failed: column(lines, "FailedCall(C)"),
      errors: (await readFile(errors, "utf8").catch(() => "")).slice(0, 4_000)
    }
  }
  return { child, finished: finish() }
}

const scenario = (name: string, steps: string): string =>
  `<?xml version="1.0" encoding="ISO-8859-1" ?>\n<!DOCTYPE scenario SYSTEM "sipp.dtd">\n<scenario name="${name}">\n${steps}\n</scenario>\n`

const send = (message: string, attributes = ""): string =>
  `<send${attributes}><![CDATA[\n\n${message.trim()}\n\n]]></send>`

const sdp = (port: string): string => `v=0
o=sipp 1 1 IN IP[media_ip_type] [media_ip]
s=-
c=IN IP[media_ip_type] [media_ip]
t=0 0
m=audio ${port} RTP/AVP 0
a=rtpmap:0 PCMU/8000`

const copied = `[last_Via:]
      [last_From:]
      [last_To:];tag=[pid]SIPpTag01[call_number]
      [last_Call-ID:]
      [last_CSeq:]`

const contact = "Contact: <sip:sipp@[local_ip]:[local_port];transport=[transport]>"

/** The part of a call in which the service asks for a transfer, which is refused. */
const refusingReferral: ReadonlyArray<string> = [
  `<recv request="REFER" timeout="40000"/>`,
  send(`SIP/2.0 603 Decline\n[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n[last_CSeq:]\nContent-Length: 0`)
]

/** Fails the call unless its request matches these expressions. */
const matching = (expressions: ReadonlyArray<string>): string =>
  expressions.length === 0
    ? `<recv request="INVITE" crlf="true"/>`
    : [
        `<recv request="INVITE" crlf="true"><action>`,
        ...expressions.map(
          (each, index) => `<ereg regexp="${each}" search_in="msg" check_it="true" assign_to="m${index}"/>`
        ),
        `</action></recv>`,
        `<Reference variables="${expressions.map((_, index) => `m${index}`).join(",")}"/>`
      ].join("\n")

/**
 * Answers calls at once and waits for the BYE; with `rtp` it plays that file meanwhile. `expressions`: what the INVITE
 * must match; `more`: what happens before the BYE.
 */
export const answering = (
  rtp?: string,
  expressions: ReadonlyArray<string> = [],
  more: ReadonlyArray<string> = []
): string =>
  scenario(
    "answering",
    [
      matching(expressions),
      send(`SIP/2.0 180 Ringing\n${copied}\n${contact}\nContent-Length: 0`),
      send(
        `SIP/2.0 200 OK\n${copied}\n${contact}\nContent-Type: application/sdp\nContent-Length: [len]\n\n${sdp(rtp === undefined ? "[media_port]" : "[rtpstream_audio_port]")}`,
        ' retrans="500"'
      ),
      `<recv request="ACK" crlf="true"/>`,
      ...(rtp === undefined ? [] : [`<nop><action><exec rtp_stream="${rtp},-1,0"/></action></nop>`]),
      ...more,
      `<recv request="BYE" timeout="40000"/>`,
      send(
        `SIP/2.0 200 OK\n[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n[last_CSeq:]\n${contact}\nContent-Length: 0`
      )
    ].join("\n")
  )

/** A caller as it writes itself: the user of its From, its name, and more headers. */
interface Caller {
  readonly user: string
  readonly name?: string
  readonly headers?: ReadonlyArray<string>
}

const stranger: Caller = { user: "+4930123456" }

const fromOf = ({ name, user }: Caller): string =>
  `From: ${name === undefined ? "" : `"${name}" `}<sip:${user}@[local_ip]:[local_port]>;tag=[pid]SIPpTag00[call_number]`

const invite = (number: string, caller = stranger): string => `INVITE sip:${number}@[remote_ip]:[remote_port] SIP/2.0
      Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch];rport
      ${fromOf(caller)}
      To: <sip:${number}@[remote_ip]:[remote_port]>
      Call-ID: [call_id]
      CSeq: 1 INVITE
      ${[contact, ...(caller.headers ?? [])].join("\n      ")}
      Max-Forwards: 70
      Content-Type: application/sdp
      Content-Length: [len]

${sdp("[media_port]")}`

const inDialog = (
  number: string,
  method: "ACK" | "BYE",
  cseq: number,
  caller = stranger
): string => `${method} [next_url] SIP/2.0
      Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch];rport
      ${fromOf(caller)}
      To: <sip:${number}@[remote_ip]:[remote_port]>[peer_tag_param]
      Call-ID: [call_id]
      CSeq: ${cseq} ${method}
      Max-Forwards: 70
      Content-Length: 0`

/** Calls the service, is answered, holds for the `-d` of its run, hangs up. */
export const calling = (number: string, caller = stranger): string =>
  scenario(
    "calling",
    [
      send(invite(number, caller), ' retrans="500"'),
      `<recv response="100" optional="true"/>`,
      `<recv response="180" optional="true"/>`,
      `<recv response="200" rrs="true" rtd="true" timeout="20000"/>`,
      send(inDialog(number, "ACK", 1, caller)),
      `<pause/>`,
      send(inDialog(number, "BYE", 2, caller), ' retrans="500"'),
      `<recv response="200" crlf="true" timeout="20000"/>`
    ].join("\n")
  )

/** Answers a call at once, refuses to be transferred, and waits for the BYE. */
export const referred = (): string => answering(undefined, [], refusingReferral)

/** Calls the service, is answered, and waits for the service to hang up. */
export const waiting = (number: string, more: ReadonlyArray<string> = []): string =>
  scenario(
    "waiting",
    [
      send(invite(number), ' retrans="500"'),
      `<recv response="100" optional="true"/>`,
      `<recv response="180" optional="true"/>`,
      `<recv response="200" rrs="true" timeout="40000"/>`,
      send(inDialog(number, "ACK", 1)),
      ...more,
      `<recv request="BYE" timeout="40000"/>`,
      send(`SIP/2.0 200 OK\n[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n[last_CSeq:]\nContent-Length: 0`)
    ].join("\n")
  )

/** Calls the service, is answered, refuses to be transferred, and waits for the BYE. */
export const callingReferred = (number: string): string => waiting(number, refusingReferral)

/** Refuses with this status, after the optional headers. */
export const refusing = (status: string, headers = ""): string =>
  scenario(
    "refusing",
    [
      `<recv request="INVITE" crlf="true"/>`,
      send(`SIP/2.0 ${status}\n${copied}\n${headers}${headers === "" ? "" : "\n"}Content-Length: 0`, ' retrans="500"'),
      `<recv request="ACK"/>`
    ].join("\n")
  )

/** Rings until it is cancelled. */
export const ringing = (): string =>
  scenario(
    "ringing",
    [
      `<recv request="INVITE" crlf="true"><action><ereg regexp=".*" search_in="hdr" header="Via:" assign_to="via"/><ereg regexp=".*" search_in="hdr" header="CSeq:" assign_to="cseq"/></action></recv>`,
      send(`SIP/2.0 180 Ringing\n${copied}\n${contact}\nContent-Length: 0`),
      `<recv request="CANCEL"/>`,
      send(`SIP/2.0 200 OK\n${copied}\nContent-Length: 0`),
      send(
        `SIP/2.0 487 Request Terminated\nVia:[$via]\n[last_From:]\n[last_To:];tag=[pid]SIPpTag01[call_number]\n[last_Call-ID:]\nCSeq:[$cseq]\nContent-Length: 0`,
        ' retrans="500"'
      ),
      `<recv request="ACK"/>`
    ].join("\n")
  )

/**
 * Challenges the first INVITE (SIPp can verify the answer to a 401, not to a 407) and answers the second when its
 * password is right.
 */
export const challenging = (user: string, password: string): string =>
  scenario(
    "challenging",
    [
      `<recv request="INVITE" crlf="true"/>`,
      send(
        `SIP/2.0 401 Unauthorized\n${copied}\nWWW-Authenticate: Digest realm="trunk.test", nonce="47ebe028cda119c35d4877b383027d28da013815", algorithm=MD5, qop="auth"\nContent-Length: 0`,
        ' retrans="500"'
      ),
      `<recv request="ACK"/>`,
      `<recv request="INVITE"><action><verifyauth assign_to="ok" username="${user}" password="${password}"/></action></recv>`,
      `<nop hide="true" test="ok" next="good"/>`,
      send(`SIP/2.0 403 Forbidden\n${copied}\nContent-Length: 0`, ' retrans="500"'),
      `<recv request="ACK" next="end"/>`,
      `<label id="good"/>`,
      send(
        `SIP/2.0 200 OK\n${copied}\n${contact}\nContent-Type: application/sdp\nContent-Length: [len]\n\n${sdp("[media_port]")}`,
        ' retrans="500"'
      ),
      `<recv request="ACK"/>`,
      `<recv request="BYE" timeout="20000"/>`,
      send(`SIP/2.0 200 OK\n[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n[last_CSeq:]\nContent-Length: 0`),
      `<label id="end"/>`
    ].join("\n")
  )
