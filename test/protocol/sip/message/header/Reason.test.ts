import { describe, expect, it } from "@effect/vitest"
import * as Reason from "../../../../../src/protocol/sip/message/header/Reason.ts"
import * as SipSample from "../../../../support/fake/SipSample.ts"

const of = (...values: ReadonlyArray<string>) =>
  Reason.of(SipSample.request("BYE", { headers: values.map((value) => ["Reason", value] as const) }))

describe("Reason", () => {
  // Values of RFC 3326 section 2, and of Asterisk, FreeSWITCH and Sonus SBCs.
  it.each([
    ['SIP ;cause=200 ;text="Call completed elsewhere"', "SIP", 200, "Call completed elsewhere"],
    ['Q.850 ;cause=16 ;text="Terminated"', "Q.850", 16, "Terminated"],
    ["Q.850;cause=17", "Q.850", 17, null],
    ['q.850;cause=16;text="NORMAL_CLEARING"', "Q.850", 16, "NORMAL_CLEARING"],
    ['SIP;cause=480;text="a, \\"quoted\\" one";x=y', "SIP", 480, 'a, "quoted" one'],
    ["preemption ;cause=1", "PREEMPTION", 1, null],
    ["SIP", "SIP", null, null]
  ])("reads %s", (value, protocol, cause, text) => {
    expect(of(value)).toStrictEqual({ protocol, cause, text })
  })

  it.each([
    ["one header", ['SIP;cause=480;text="a, b", Q.850;cause=19;text="No answer"']],
    ["two headers", ["SIP;cause=480", 'q.850;cause=19;text="No answer"']],
    ["three protocols", ['preemption;cause=1, SIP;cause=480, Q.850;cause=19;text="No answer"']],
    ["its own order", ['Q.850;cause=19;text="No answer", SIP;cause=480']]
  ])("is the cause of Q.850 where several protocols give one, in %s", (_, values) => {
    expect(of(...values)).toStrictEqual({ protocol: "Q.850", cause: 19, text: "No answer" })
  })

  it("is that of another protocol where Q.850 gives no cause", () => {
    expect(of("SIP;cause=603, Q.850;text=x")).toStrictEqual({ protocol: "SIP", cause: 603, text: null })
    expect(of("Q.850;text=x")).toStrictEqual({ protocol: "Q.850", cause: null, text: "x" })
  })

  it("is the first one that can be read; none is none", () => {
    expect(of(";cause=1", 'SIP;text="open', "Q.850;cause=31")).toStrictEqual({
      protocol: "Q.850",
      cause: 31,
      text: null
    })
    expect(of()).toBeNull()
    expect(of("", "()")).toBeNull()
  })

  it("is bounded: a cause that is no number is none, a text is cut", () => {
    expect(of("SIP;cause=abc")?.cause).toBeNull()
    expect(of("SIP;cause=99999999999999")?.cause).toBeNull()
    expect(of(`SIP;text="${"a".repeat(5000)}"`)?.text).toHaveLength(256)
    expect(of(`${"p".repeat(1000)};cause=1`)).toBeNull()
  })
})
