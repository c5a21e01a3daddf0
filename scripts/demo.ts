/**
 * `npm run demo`: a first call from end to end, printed as it happens. Exits 0 when everything happened, else 1.
 *
 * Starts a service of its own in a temporary folder; with `BASE_URL` it uses a running one on this machine, and names
 * the settings that it lacks.
 */
import { ApiFailure, makeApi } from "./demo/Api.ts"
import * as Certificate from "./demo/Certificate.ts"
import { readable, Unexpected } from "./demo/Json.ts"
import * as FreePorts from "../test/support/network/FreePorts.ts"
import * as OwnService from "./demo/OwnService.ts"
import * as Receiver from "./demo/Receiver.ts"
import { tell } from "./demo/Story.ts"
import * as Timeline from "./demo/Timeline.ts"

const borrowed = process.env["BASE_URL"]?.replace(/\/+$/, "")

/** The settings that a running service lacks, by the failure that it showed. */
const lacking = (failure: unknown, caFile: string, heard: boolean): ReadonlyArray<string> => {
  if (failure instanceof ApiFailure)
    switch (failure.code) {
      case "invalid_target_url":
        return ["ALLOW_PRIVATE_TARGETS=true", `TARGET_CA_FILE=${caFile}`]
      case "rate_limited":
        return ["SIGNUP_LIMIT_PER_HOUR=100"]
      case "insufficient_balance":
      case "balance_insufficient":
        return ["SIGNUP_CREDIT_CENTS=500"]
      default:
        return []
    }
  return failure instanceof Receiver.Silence && !heard ? [`TARGET_CA_FILE=${caFile}`] : []
}

const run = async (): Promise<void> => {
  const timeline = Timeline.make()
  const folder = borrowed === undefined ? await OwnService.makeFolder() : Certificate.sharedFolder()
  const certificate = await Certificate.inFolder(folder)
  const receiver = await Receiver.start(certificate, timeline)
  let stop = async () => receiver.stop()
  const interrupted = () => void stop().finally(() => process.exit(130))
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted)
  try {
    if (borrowed === undefined) {
      timeline.note("starting a service in", folder)
      const service = OwnService.spawnIn(folder, certificate.caFile, await FreePorts.find())
      stop = async () => {
        await receiver.stop()
        await service.stop()
      }
      await service.ready
      await tell(makeApi(service.baseUrl, timeline), receiver, timeline)
      return
    }
    timeline.note("using the running service at", borrowed)
    await tell(makeApi(borrowed, timeline), receiver, timeline)
  } catch (failure) {
    const settings = borrowed === undefined ? [] : lacking(failure, certificate.caFile, receiver.received.length > 0)
    if (settings.length > 0) console.error(`\nthis service has to be started with ${settings.join(" ")}`)
    throw failure
  } finally {
    await stop()
  }
}

try {
  await run()
  console.log("\ndemo: everything happened")
  process.exit(0)
} catch (failure) {
  const expected = failure instanceof ApiFailure || failure instanceof Receiver.Silence || failure instanceof Unexpected
  console.error(`\ndemo failed: ${expected ? failure.message : readable(failure)}`)
  process.exit(1)
}
