import { describe, expect, it } from "@effect/vitest"
import * as DtmfRelay from "../../../../src/carrier/sip/session/DtmfRelay.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const digitOf = (type: string, text: string) =>
  DtmfRelay.digitOf(SipSample.request("INFO", { body: { type, bytes: new TextEncoder().encode(text) } }))

describe("The digit in an INFO", () => {
  // Bodies of Cisco, Linphone, JsSIP, Asterisk, FreeSWITCH, Yeti and Nortel.
  it.each([
    ["application/dtmf-relay", "Signal=5\r\nDuration=160\r\n", "5"],
    ["application/dtmf-relay", "Signal= 5\r\nDuration= 250\r\n", "5"],
    ["application/dtmf-relay;charset=utf-8", "signal=b\nduration=100", "B"],
    ["Application/DTMF-Relay", "Duration=160\r\nSignal=*\r\n", "*"],
    ["application/dtmf-relay", "Signal=#\r\nDuration=160", "#"],
    ["application/dtmf-relay", "Signal=10\r\nDuration=160\r\n", "*"],
    ["application/dtmf-relay", "Signal=11\r\nDuration=160\r\n", "#"],
    ["application/dtmf-relay", "Signal=15\r\nDuration=160\r\n", "D"],
    ["application/dtmf-relay", 'Signal="7"\r\n', "7"],
    ["application/dtmf-relay", "Signal: 7\r\nDuration: 160\r\n", "7"],
    ["application/dtmf-relay", "Signal=7,Duration=160", "7"],
    ["application/dtmf", "5", "5"],
    ["application/dtmf", "5\r\n", "5"],
    ["application/dtmf", "10", "*"],
    ["application/dtmf", "d", "D"],
    ["application/dtmf", "Signal=5\r\nDuration=160\r\n", "5"],
    ["application/vnd.nortelnetworks.digits", "p=Digit-Collection\r\ny=Digits\r\n\r\nd=9\r\n", "9"],
    ["application/vnd.nortelnetworks.digits", "Signal=9\r\n", "9"]
  ])("is read from %s with %j: %s", (type, text, digit) => {
    expect(digitOf(type, text)).toBe(digit)
  })

  it.each([
    ["text/plain", "5"],
    ["application/dtmf-relay", "5"],
    ["application/dtmf-relay", "Signal=16\r\n"],
    ["application/dtmf-relay", "Signal=!\r\n"],
    ["application/dtmf-relay", "Signal=\r\nDuration=160\r\n"],
    ["application/dtmf-relay", "Duration=5\r\n"],
    ["application/dtmf-relay", `Signal=5\r\n${"x".repeat(300)}`],
    ["application/dtmf", "55"],
    ["application/dtmf", ""],
    ["application/broadsoft", "event flashhook"],
    ["constructor", "5"]
  ])("is none in %s with %j", (type, text) => {
    expect(digitOf(type, text)).toBeNull()
  })
})
