import { setTimeout as delay } from "node:timers/promises"
import type { World } from "./World.ts"

/** A leg queues one more than this; the last comes with the large batch. */
const playbacks = 30
/** The length of a URL in characters; the limit is 2048. */
const urlLength = 2_000
/** How many calls are placed at once: of more requests of one tenant some are refused. */
const placedAtOnce = 32
/** On a quiet machine this takes a second. */
const placedWithinMs = 120_000
/** Shorter than a request waits for its commit. */
const heldMs = 1_200

let made = 0

/**
 * Places calls, fills the state of each with as many playbacks as it takes, and then lets all of them commit at once:
 * for a moment no statement gets through, and the next one holds them all. Gives the function that hangs up.
 */
export const start = async (world: World, calls: number): Promise<() => Promise<void>> => {
  const [tenant] = world.tenants
  if (tenant === undefined) throw new Error("there is no tenant")
  const { client } = world
  const { apiKey } = tenant
  const database = world.database()

  const place = async (): Promise<string> => {
    let key = `large-${++made}`
    for (const end = Date.now() + placedWithinMs; ; await delay(500)) {
      const body = { from: tenant.number, to: "+12025550100", customer_reference: key }
      const answer = await client.command({ apiKey, key, path: "/v1/calls", body, mark: `call ${key}` })
      if (answer?.status === 201) return (JSON.parse(answer.body) as { readonly id: string }).id
      if ((answer !== null && answer.status !== 503) || Date.now() > end)
        throw new Error(`a call was not placed: ${answer?.status} ${answer?.body}`)
      // A busy machine refuses it, and takes another one later. Without an answer it may have been placed.
      if (answer !== null) key = `large-${++made}`
    }
  }
  const play = async (callId: string): Promise<void> => {
    const key = `large-${++made}`
    const url = `${world.receiver.baseUrl}/tone.wav/${key}/`.padEnd(urlLength, "x")
    await client.command({
      apiKey,
      key,
      path: `/v1/calls/${callId}/actions/play`,
      body: { url, loop: 100 },
      mark: `play ${url}`
    })
  }

  const ids: Array<string> = []
  while (ids.length < calls)
    ids.push(...(await Promise.all(Array.from({ length: Math.min(placedAtOnce, calls - ids.length) }, place))))
  for (let talking = 0, end = Date.now() + placedWithinMs; talking < calls; await delay(50)) {
    if (Date.now() > end) throw new Error("the calls were not answered")
    const rows = await database.query(
      "SELECT FROM call WHERE status = 'answered' AND customer_reference LIKE 'large-%'"
    )
    talking = rows.length
  }
  for (let nth = 0; nth < playbacks; nth++) await Promise.all(ids.map(play))
  // The table's lock is taken before the statement of a batch looks at anything.
  const last = await database.holding("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE", async () => {
    const played = Promise.all(ids.map(play))
    await delay(heldMs)
    return { played }
  })
  await last.played
  return async () => {
    await Promise.all(
      ids.map((id) =>
        client.command({
          apiKey,
          key: `large-hangup-${id}`,
          path: `/v1/calls/${id}/actions/hangup`,
          body: {},
          mark: `hangup ${id}`
        })
      )
    )
  }
}
