import { at, listAt, textAt } from "../../demo/Json.ts"
import type { Walk } from "../Walk.ts"
import { hangUp, place, settled } from "./Calls.ts"
import type { Numbers } from "./Numbers.ts"
import type { Tenants } from "./Tenants.ts"

export interface Conferences {
  readonly id: string
  readonly member: string
}

/** A room with every verb while it is in progress and when it is completed, and another room that waits. */
export const walk = async (walk: Walk, { main, other }: Tenants, { own: from }: Numbers): Promise<Conferences> => {
  const { peer, webhook } = walk
  // This phone presses digits and is silent, because lists show speakers first.
  const calls = { from, to: "+12025550105" }
  const host = await place(main, calls)
  const guest = await place(main, calls)
  const room = {
    name: "Weekly",
    host_call_id: host.id,
    max_participants: 3,
    beep_enabled: "always",
    end_on_exit: false
  }
  const id = textAt((await main.post("/v1/conferences/", room)).json, "id")
  const path = `/v1/conferences/${id}`
  const act = (lines: string) => main.run(lines.trim().replaceAll(/^\s*(\w+)/gm, `POST ${path}/actions/$1/`))
  const have = (rows: number) => (json: unknown) => {
    const participants = listAt(json, "participants")
    return participants.length === rows && participants.every((row) => at(row, "joined_at") !== null)
  }
  const started = (json: unknown) => at(json, "status") === "in_progress" && have(1)(json)
  await main.until(path, started)
  const rooms = "POST /v1/conferences/"
  await main.run(`
    ${rooms} {"name":"Weekly","host_call_id":"${host.id}"}
    ${rooms} {"name":"Other","host_call_id":"${host.id}"}
    ${rooms} {"name":"Third","host_call_id":"${guest.id}","max_participants":1000}
    ${rooms} {"name":"Fourth","host_call_id":"svc_call_${"0".repeat(32)}"}
    GET ${path}`)
  await other.get(path)
  await act(`join {"call_id":"${guest.id}","mute":true}\njoin {"call_id":"${guest.id}"}`)
  await main.until(path, have(2))
  await main.run(`
    POST ${path}/participants/ {"from":"${from}","to":"911"}
    POST ${path}/participants/ {"from":"+12025559999","to":"${calls.to}"}
    POST ${path}/participants/ {"from":"${from}","to":"${calls.to}","customer_reference":"dialled"}`)
  const view = await main.until(path, have(3))
  await main.post(`${path}/participants/`, calls)
  const dialled = listAt(view, "participants").find((row) => ![host.id, guest.id].includes(textAt(row, "call_id")))
  const [member, leg, call] = ["id", "leg_id", "call_id"].map((field) => textAt(dialled, field))

  const guests = `"leg_ids":["${guest.leg}"]`
  const nobody = `"leg_ids":["svc_leg_${"0".repeat(32)}"]`
  const sound = `https://${peer.address}/sound.wav`
  /** Members change a moment after the answer, so each change is awaited. */
  const change = async (verb: string, field: string, value: boolean, further = "") => {
    await act(`${verb} {${guests}${further}}`)
    await main.until(path, (json) =>
      listAt(json, "participants").some((row) => at(row, "leg_id") === guest.leg && at(row, field) === value)
    )
    await main.get(path)
  }
  await change("unmute", "is_muted", false)
  await change("mute", "is_muted", true)
  await change("unmute", "is_muted", false)
  await change("hold", "is_on_hold", true)
  await change("unhold", "is_on_hold", false)
  await change("hold", "is_on_hold", true, `,"audio_url":"${sound}","region":"Europe"`)
  await main.gets(
    `${path}/participants/list/`,
    ". ?muted=true ?on_hold=true ?include_left=true ?page_size=1 ?page=4 ?muted=perhaps"
  )
  await change("unhold", "is_on_hold", false)
  const supervise = `supervise {"leg_id":"${leg}","role"`
  const records = `
    record_pause {}
    record_stop {}
    record_start {"format":"wav","channels":"dual","play_beep":true}`
  const others = `
    ${supervise}:"monitor"}
    ${supervise}:"whisper"}
    ${supervise}:"whisper","whisper_leg_ids":["${guest.leg}"]}
    ${supervise}:"barge"}
    ${supervise}:"none"}
    mute {${nobody}}
    unmute {${nobody}}
    hold {${nobody}}
    unhold {${nobody}}
    supervise {"leg_id":"svc_leg_${"0".repeat(32)}","role":"none"}
    play {"url":"${sound}","loop":2}
    play {"url":"${sound}",${guests}}
    play {"url":"${sound}",${nobody}}
    speak {"payload":"The meeting begins.","voice":"female"}
    speak {"payload":"The meeting begins.","voice":"nobody.there"}
    stop {${guests}}
    stop {}
    update {"max_participants":2}
    update {"max_participants":4,"beep_enabled":"never","duration_minutes":5}
    update {}`
  await act(others)
  await act(records)
  await act(`record_start {"format":"mp3"}\nplay {"url":"${sound.replace("sound", "short")}"}`)
  // A recording that has no sound yet fails when it is stopped.
  await webhook("conference.playback_ended", "completed", id)
  await act("record_pause\nrecord_pause\nrecord_resume\nrecord_resume\nrecord_stop")
  await main.until("/v1/recordings", (json) => at(json, "count") === 1)
  await act("record_stop")
  await main.gets(
    `${path}/participants/`,
    `upstream/ upstream/?muted=true upstream/?page_size=1&page=2 upstream/?page_size=101 upstream/?whispering=true
    ${member}/`
  )
  await other.get(`${path}/participants/${member}/`)
  await main.run(`
    PATCH ${path}/participants/${member}/ {"soft_end_on_exit":true}
    PATCH ${path}/participants/${member}/ {"end_on_exit":false,"beep_enabled":"on_exit"}
    PATCH ${path}/participants/${member}/ {}
    PATCH ${path}/participants/${member}/ {"soft_end_on_exit":false}
    DELETE ${path}/participants/${guest.id}/`)
  await main.until(`/v1/calls/${guest.id}`, (json) => at(json, "status") === "answered")
  await main.run(`DELETE ${path}/participants/${guest.id}/`)
  await hangUp(main, guest.id)
  await main.get(`${path}/participants/list/?include_left=true`)
  await main.gets("/v1/conferences/", ". ?status=in_progress ?name=week ?status=completed ?status=what")
  await act("end {}")
  for (const ended of [host.id, call ?? ""]) await settled(main, ended)
  await main.get(path)
  await act(`end\njoin {"call_id":"${host.id}"}\n${others}\n${records}`)
  await main.post(`${path}/participants/`, calls)
  await main.get(`${path}/participants/upstream/`)
  await main.gets("/v1/conferences/", ". ?status=completed&page_size=1")

  const first = await place(main, calls)
  const waits = await main.run(`${rooms} {"name":"Weekly","host_call_id":"${first.id}","start_on_create":false}`)
  const waiting = `/v1/conferences/${textAt(waits.json, "id")}`
  await main.until(`/v1/calls/${first.id}`, (json) => at(json, "status") === "bridged")
  await main.run(`POST ${waiting}/actions/supervise/ {"leg_id":"${first.leg}","role":"barge"}`)
  await hangUp(main, first.id)
  await main.until(waiting, (json) => at(json, "status") === "completed")
  await main.get(waiting)
  return { id, member: member ?? "" }
}
