/**
 * The place of one leg in the media plane. It is taken once, with the first offer or answer, and kept for the life of
 * the leg. The agreement of offer and answer (`OfferAnswer`) points it at the peer, again after each re-INVITE.
 */
import { Exit } from "effect"
import * as Codecs from "../../../protocol/audio/codec/Codecs.ts"
import type { LegId, TenantId } from "../../../domain/Id.ts"
import type { Listener, MediaPlane, RtpPlace } from "../../../media/plane/MediaPlane.ts"
import type * as SdpOffer from "../../../protocol/sip/sdp/SdpOffer.ts"
import type { Run } from "./LegEvents.ts"

export interface LegMedia {
  /** Assigns the leg to this tenant, which takes its place in the plane. */
  readonly belongsTo: (tenantId: TenantId) => void
  /**
   * Takes a place in the plane for a peer whose signalling comes from this IP literal; `null` when there is none.
   * `then` is not called once the leg is closed.
   */
  readonly open: (signallingAddress: string, then: (place: RtpPlace | null) => void) => void
  /** Points the place at the peer, or at no address while the peer's is unknown. */
  readonly connect: (terms: SdpOffer.Agreed) => void
  /** The peer pressed a digit in its signalling. `taken` learns once whether its packets have not brought it. */
  readonly press: (digit: string, taken: (isNew: boolean) => void) => void
  /** Calls `then` once there is a place, or will be none. False when too many wait for it already. */
  readonly whenOpen: (then: () => void) => boolean
  /** Returns whether there was a place, whose end the listener will get (`closed`). */
  readonly close: () => boolean
}

interface Options {
  readonly legId: LegId
  readonly plane: MediaPlane["Service"]
  readonly run: Run
  readonly heard: Listener
  /** Null when `belongsTo` sets it before the place is taken. */
  readonly tenantId: TenantId | null
  /** A leg that this one will be bridged with; null when none is known. */
  readonly near: LegId | null
}

/** How many callbacks may wait for the place of one leg. */
const maxWaiting = 16

const ignore = (): void => undefined

export const make = ({ heard, legId, near, plane, run, ...options }: Options): LegMedia => {
  let { tenantId } = options
  let place: RtpPlace | null = null
  let signallingAddress: string | null = null
  let closed = false
  const waiting: Array<() => void> = []

  return {
    belongsTo: (tenant) => {
      tenantId = tenant
    },
    open: (from, then) => {
      if (closed) return
      if (tenantId === null) return then(null)
      signallingAddress = from
      run(plane.subscribe(legId, heard), ignore)
      run(plane.openRtp(legId, tenantId, near ?? undefined), (exit) => {
        if (Exit.isFailure(exit)) return closed ? undefined : then(null)
        if (closed) return run(plane.close(legId), ignore)
        place = exit.value
        then(place)
        for (const each of waiting.splice(0)) each()
      })
    },
    connect: ({ audio, codec, direction, fmtp, ptimeMs, remote, remoteRtcp, telephoneEvent }) => {
      const named = Codecs.named(codec)
      if (remote === null || named === null) return
      const peer = {
        address: remote.address,
        port: remote.port,
        signallingAddress,
        rtcpPort: remoteRtcp?.port ?? remote.port + 1,
        codec: named,
        fmtp,
        audio,
        telephoneEvent,
        ptimeMs,
        direction
      }
      run(plane.connectRtp(legId, peer), ignore)
    },
    press: (digit, taken) => {
      if (place === null || closed) taken(true)
      else run(plane.press(legId, digit, taken), ignore)
    },
    whenOpen: (then) => {
      if (place !== null || closed) then()
      else if (waiting.push(then) > maxWaiting) return false
      return true
    },
    close: () => {
      if (closed) return false
      closed = true
      if (place !== null) run(plane.close(legId), ignore)
      // The waiting callbacks get no place, and the plane reports that for each.
      for (const each of waiting.splice(0)) each()
      return place !== null
    }
  }
}
