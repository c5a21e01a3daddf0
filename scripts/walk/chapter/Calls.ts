import { at, listAt, textAt } from "../../demo/Json.ts"
import { type Caller, eventually, type Walk } from "../Walk.ts"
import type { Numbers } from "./Numbers.ts"
import type { Tenants } from "./Tenants.ts"

export interface Calls {
  readonly ended: string
  readonly busy: string
  readonly foreign: string
  readonly recording: string
}

/** Simulated phones by what they do. */
const phone = { echoes: "+12025550100", rings: "+12025550102" }
const echo = (from: string, further: object = {}) => ({ from, to: phone.echoes, ...further })

const statusIs =
  (...statuses: ReadonlyArray<string>) =>
  (json: unknown): boolean =>
    statuses.includes(String(at(json, "status")))

/** Places a call and waits until it is in this state, so that what follows does not depend on when it came there. */
export const place = async (
  caller: Caller,
  body: object,
  status = "answered"
): Promise<{ id: string; leg: string }> => {
  const id = textAt((await caller.post("/v1/calls", body)).json, "id")
  const call = await caller.until(`/v1/calls/${id}`, statusIs(status))
  return { id, leg: textAt(call, "legs", 0, "id") }
}

const isOver = (leg: unknown) =>
  at(leg, "ended_at") !== null &&
  (at(leg, "answered_at") !== null || at(leg, "end_initiator") !== "api" || at(leg, "sip_status") !== null)

/** Waits for a call's bill and for what its legs say at their end, which comes a moment after the end of the call. */
export const settled = (caller: Caller, id: string) =>
  caller.until(`/v1/calls/${id}`, (json) => {
    return statusIs("ended", "failed")(json) && at(json, "cost_cents") !== null && listAt(json, "legs").every(isOver)
  })

export const hangUp = async (caller: Caller, id: string): Promise<void> => {
  await caller.post(`/v1/calls/${id}/actions/hangup`)
  await settled(caller, id)
}

/** Every verb with a body that is good where the state allows it. */
const verbs = (sound: string, stream: string) => `
  answer {}
  reject {"cause":"user_busy"}
  play {"url":"${sound}","loop":2}
  stop_playback {}
  send_dtmf {"digits":"1w2"}
  gather {"minimum_digits":2}
  stop_gather
  transfer {"to":"${phone.rings}"}
  bridge {"leg_id":"svc_leg_${"0".repeat(32)}"}
  refer {"sip_address":"sip:ada@example.com"}
  speak {"payload":"Hello.","voice":"female"}
  start_recording {"format":"wav"}
  stop_recording {}
  pause_recording
  resume_recording {}
  gather_using_speak {"payload":"Digits, please.","voice":"female"}
  gather_using_audio {"audio_url":"${sound}"}
  streaming_start ${stream}
  streaming_stop {}
  transcription_start {"language":"xx"}
  transcription_stop {}`

/** Actions on an answered call, one after the other. */
const live = (sound: string, stream: string) => `
  play {"url":"${sound}"}
  play {"url":"${sound}","target_legs":"opposite"}
  speak {"payload":"Hello.","voice":"male","language":"en"}
  speak {"payload":"Hello.","voice":"nobody.there"}
  stop_playback {"stop":"current"}
  stop_playback {"stop":"all"}
  gather {"minimum_digits":5,"maximum_digits":2}
  gather {"minimum_digits":100,"timeout_millis":600000,"initial_timeout_millis":600000}
  gather {}
  stop_gather {}
  stop_gather {}
  gather_using_speak {"payload":"Digits, please.","voice":"female","minimum_digits":100}
  stop_gather {}
  gather_using_audio {"audio_url":"${sound}","invalid_audio_url":"${sound}"}
  stop_gather {}
  transcription_start {"language":"en","engine":"accurate"}
  transcription_stop {}
  answer {}
  reject {"cause":"rejected"}
  streaming_start ${stream.replace("}", `,"stream_codec":"PCMU","stream_bidirectional_codec":"PCMA"}`)}
  streaming_start ${stream.replace("}", `,"stream_track":"both_tracks"}`)}
  streaming_start ${stream}
  send_dtmf {"digits":"123#","duration_millis":100}`

/** Calls to and from simulated phones, with each verb in each state. */
export const walk = async (walk: Walk, { main, other, poor, narrow }: Tenants, numbers: Numbers): Promise<Calls> => {
  const { operator, peer, webhook } = walk
  const { foreign, own: from } = numbers
  const sound = `https://${peer.address}/sound.wav`
  const stream = `{"stream_url":"wss://${peer.address}/stream?secret=1"}`
  const act = (caller: Caller, id: string, lines: string) =>
    caller.run(lines.trim().replaceAll(/^\s*/gm, `POST /v1/calls/${id}/actions/`))
  const all = async (caller: Caller, id: string) => {
    await act(caller, id, verbs(sound, stream))
    await caller.gets(`/v1/calls/${id}`, ". /streamings /transcription /amd")
  }

  const to = `"to":"${phone.echoes}"`
  await main.run(`
    POST /v1/calls {"from":"${foreign}",${to}}
    POST /v1/calls {"from":"${from}",${to},"caller_id_forwarding":true}
    POST /v1/calls {"from":"${from}",${to},"route_id":"svc_route_${"0".repeat(32)}"}
    POST /v1/calls {"from":"${from}","to":"911"}
    POST /v1/calls {"from":"${from}",${to},"custom_headers":[{"name":"Y-No","value":"1"}]}
    POST /v1/calls {"from":"${from}",${to},"audio_url":"http://example.com/a.wav"}
    POST /v1/calls {"from":"${from}","to":"+12025550199"}`)
  for (const caller of [poor, narrow]) await caller.post("/v1/calls", echo(from))
  await operator("destinations", "block-prefix", "+4420")
  await operator("destinations", "block-country", "DE", "--tenant", "walk-main")
  for (const blocked of ["+442071234567", "+4930123456"]) await main.post("/v1/calls", { from, to: blocked })

  let busy = ""
  for (const failing of ["+12025550107", "+12025550103", "+12025550108", "+12025550101"]) {
    busy = textAt((await main.post("/v1/calls", { from, to: failing, customer_reference: failing })).json, "id")
    await settled(main, busy)
    await main.get(`/v1/calls/${busy}`)
  }
  const repeated = `{"from":"${from}","to":"${phone.rings}","timeout_secs":600}`
  const once = await main.run(`
    idempotency-key=call-1 POST /v1/calls ${repeated}
    idempotency-key=call-1 POST /v1/calls/ ${repeated}`)
  await main.run(`idempotency-key=call-1 POST /v1/calls ${repeated.replace("600", "500")}`)
  await other.run(`idempotency-key=call-1 POST /v1/calls ${repeated}`)
  const rings = textAt(once.json, "id")
  await main.until(`/v1/calls/${rings}`, statusIs("ringing"))
  await all(main, rings)
  await all(other, rings)
  await hangUp(main, rings)
  await main.get(`/v1/calls/${rings}`)
  await all(main, rings)

  const a = await place(main, echo(from, { record: "on_answer", record_channels: "dual", customer_reference: "a" }))
  const b = await place(main, echo(from, { custom_headers: [{ name: "X-Walk", value: "1" }] }))
  const recordings = (id: string) => main.until(`/v1/recordings?call_id=${id}`, (json) => at(json, "count") === 1)
  await main.get(`/v1/calls/${a.id}`)
  await act(
    main,
    b.id,
    `
    stop_recording
    start_recording {"format":"wav","channels":"dual"}
    start_recording {}
    play {"url":"${sound.replace("sound", "short")}"}`
  )
  // A recording that has no sound yet fails when it is stopped.
  await webhook("call.playback_ended", "completed", b.id)
  await act(main, b.id, "pause_recording\npause_recording\nresume_recording\nresume_recording\nstop_recording")
  await recordings(b.id)
  await act(main, b.id, "stop_recording")
  await act(main, b.id, live(sound, stream))
  const streams = (id: string, status?: string) =>
    main.until(`/v1/calls/${id}/streamings`, (json) => at(json, "results", 0, "status") === status)
  await streams(b.id, "active")
  await main.get(`/v1/calls/${b.id}/streamings`)
  await act(main, b.id, "streaming_stop")
  await streams(b.id)
  await act(
    main,
    b.id,
    `
    streaming_stop
    bridge {"leg_id":"${b.leg}"}
    bridge {"leg_id":"${a.leg}"}`
  )
  for (const { id } of [a, b]) await main.until(`/v1/calls/${id}`, statusIs("bridged"))
  await main.get(`/v1/calls/${b.id}`)
  await act(
    main,
    b.id,
    `
    bridge {"leg_id":"${a.leg}"}
    refer {"sip_address":"sip:ada@example.com"}
    start_recording {}
    play {"url":"${sound}","target_legs":"both"}
    stop_playback {}
    transfer {"to":"${phone.rings}","from":"${foreign}"}
    transfer {"to":"${phone.rings}","timeout_secs":600}
    transfer {"to":"${phone.rings}"}`
  )
  await main.until(`/v1/calls/${b.id}`, (json) => at(json, "legs", 1, "status") === "ringing")
  await main.until(`/v1/calls/${a.id}`, statusIs("answered"))
  await main.get(`/v1/calls/${b.id}`)
  await hangUp(main, b.id)
  await main.get(`/v1/calls/${b.id}`)
  await act(main, a.id, `refer {"sip_address":"sip:ada@example.com"}`)
  await webhook("call.refer_failed", a.id)
  await act(main, a.id, `refer {"sip_address":"sip:${phone.echoes}@example.com"}`)
  await webhook("call.refer_completed", a.id)
  await settled(main, a.id)
  await recordings(a.id)
  await main.get(`/v1/calls/${a.id}`)

  for (const kind of ["answered", "rejected", "abandoned"]) {
    await operator("simulate-inbound", "--from", phone.echoes, "--to", from)
    const id = await eventually(
      () => "an inbound call",
      async () => {
        const found = listAt(await main.until("/v1/calls?direction=inbound&page_size=1", () => true), "results")[0]
        return at(found, "ended_at") === null ? textAt(found, "id") : undefined
      }
    )
    await main.until(`/v1/calls/${id}`, statusIs("ringing", "initiated"))
    await main.get(`/v1/calls/${id}`)
    if (kind === "answered") {
      await all(other, id)
      await act(main, id, `play {"url":"${sound}"}\nanswer ${stream.replace("}", `,"record":"off"}`)}`)
      await main.until(`/v1/calls/${id}`, statusIs("answered"))
      await streams(id, "active")
      await act(main, id, "answer")
    } else if (kind === "rejected") await act(main, id, `reject {"cause":"user_busy"}`)
    if (kind === "rejected") await settled(main, id)
    else await hangUp(main, id)
    await main.get(`/v1/calls/${id}`)
  }
  const machine = await place(main, echo(from, { answering_machine_detection: "premium", record: "on_demand" }))
  await main.get(`/v1/calls/${machine.id}/amd`)
  await hangUp(main, machine.id)

  await main.gets("/v1/recordings", `. ?call_id=${a.id} ?call_id=${rings} ?page_size=1&page=2 ?page=7`)
  const stored = listAt(await main.until("/v1/recordings", () => true), "results")
  const [recording = "", second = ""] = stored.map((row) => textAt(row, "id"))
  for (const caller of [main, other]) await caller.get(`/v1/recordings/${second}`)
  const file = new URL(textAt(stored[1], "download_url"))
  const { status } = await walk.client.look({ method: "GET", path: `${file.pathname}${file.search}` })
  if (status !== 200) throw new Error(`a recording was answered by ${status}`)
  await main.run(`DELETE /v1/recordings/${second}\nDELETE /v1/recordings/${second}`)

  const theirs = await place(other, { from: foreign, to: phone.rings }, "ringing")
  await hangUp(other, theirs.id)
  await main.gets(
    "/v1/calls",
    `. ?status=ended ?status=failed&page_size=2 ?status=failed&page_size=2&page=2 ?direction=inbound
    ?from_number=%2B${from.slice(1)}&page_size=1 ?to_number=%2B12025550102 ?initiated_after=2999-01-01T00:00:00Z
    ?status=what ?initiated_after=2026-02-30T00:00:00Z ?page=99 .csv .csv?status=failed .csv?page=1`
  )
  await main.gets("/v1/voices", ". ?language=de ?language=x")
  return { ended: a.id, busy, foreign: theirs.id, recording }
}
