/**
 * The media of one leg: its place in the media plane and the session descriptions that both sides gave, RFC 3264.
 *
 * The place is taken once, with the first offer or answer, and kept for the life of the leg: a re-INVITE points it
 * elsewhere.
 */
import { isIPv6, SocketAddress } from "node:net"
import { Exit, Result } from "effect"
import type { LegId } from "../../domain/Id.ts"
import * as Codecs from "../../audio/codec/Codecs.ts"
import type { Listener, MediaPlane, RtpRemote } from "../../media/MediaPlane.ts"
import type { Body } from "../../sip/Requests.ts"
import * as Sdp from "../../sip/Sdp.ts"
import * as SdpOffer from "../../sip/SdpOffer.ts"
import type { Run } from "./LegEvents.ts"

export interface LegMedia {
  /**
   * Takes a place in the plane for a peer whose signalling comes from this IP literal; at once when it has one. `false`:
   * there is none.
   */
  readonly open: (signallingAddress: string, then: (opened: boolean) => void) => void
  /** Our offer; only while open. */
  readonly offer: () => Body
  /** Answers an offer and connects; fails with the reason of a 488. Only while open. */
  readonly answer: (offered: Uint8Array) => Result.Result<Body, string>
  /** Takes the answer to our last offer and connects; fails with why the call cannot go on. */
  readonly accept: (answered: Uint8Array) => Result.Result<void, string>
  /** Whether an answer to the offer that is out was taken. */
  readonly agreed: () => boolean
  /** Whether digits come as telephone events in RTP. */
  readonly hasTelephoneEvents: () => boolean
  readonly close: () => void
}

export interface Options {
  readonly legId: LegId
  /** Decimal, the same for the life of the leg. */
  readonly sessionId: string
  readonly plane: MediaPlane["Service"]
  readonly run: Run
  readonly heard: Listener
}

const contentType = "application/sdp"
const ignore = (): void => undefined

/** The one form in which sockets tell an IPv6 address, which a peer may write in many. */
const asSocketsTell = (address: string): string =>
  isIPv6(address) ? new SocketAddress({ address, family: "ipv6" }).address : address

export const make = ({ heard, legId, plane, run, sessionId }: Options): LegMedia => {
  let place: { readonly address: string; readonly port: number } | undefined
  let signallingAddress: string | null = null
  let closed = false
  let version = 0
  /** Our last description, and whether it is an offer without answer. */
  let ours: Sdp.Sdp | undefined
  let unanswered = false
  let remote: RtpRemote | undefined

  const local = (): SdpOffer.Local => ({
    address: place?.address ?? "0.0.0.0",
    port: place?.port ?? 0,
    sessionId,
    sessionVersion: version,
    direction: "sendrecv",
    codecs: Codecs.defaultOrder.map((name) => Codecs.table[name])
  })

  /** One version for each description that differs from the last, RFC 3264 section 8. */
  const described = (next: Sdp.Sdp): Body => {
    const text = (sdp: Sdp.Sdp | undefined) =>
      sdp === undefined ? "" : JSON.stringify({ ...sdp, origin: { ...sdp.origin, sessionVersion: "" } })
    if (text(next) !== text(ours)) version++
    ours = { ...next, origin: { ...next.origin, sessionVersion: String(version) } }
    return { type: contentType, bytes: Sdp.write(ours) }
  }

  const connect = (agreed: SdpOffer.Agreed): void => {
    // A peer that holds by an empty address is still where it was.
    const to = agreed.remote ?? remote
    const codec = Codecs.named(agreed.codec)
    if (to === undefined || codec === null) return
    remote = {
      address: asSocketsTell(to.address),
      port: to.port,
      signallingAddress,
      rtcpPort: agreed.remoteRtcp?.port ?? to.port + 1,
      codec,
      audio: agreed.audio,
      telephoneEvent: agreed.telephoneEvent ?? null,
      direction: agreed.direction
    }
    run(plane.connectRtp(legId, remote), ignore)
  }

  return {
    open: (from, then) => {
      signallingAddress = asSocketsTell(from)
      if (place !== undefined || closed) return then(place !== undefined)
      run(plane.subscribe(legId, heard), ignore)
      run(plane.openRtp(legId), (exit) => {
        if (Exit.isSuccess(exit)) {
          if (closed) return run(plane.close(legId), ignore)
          place = exit.value
        }
        then(Exit.isSuccess(exit))
      })
    },
    offer: () => {
      unanswered = true
      return described(SdpOffer.offer(local(), ours))
    },
    answer: (offered) =>
      Result.flatMap(Sdp.parse(offered), (description) =>
        Result.mapBoth(SdpOffer.answer(description, local()), {
          onFailure: ({ reason }) => reason,
          onSuccess: ({ agreed, answer }) => {
            unanswered = false
            connect(agreed)
            return described(answer)
          }
        })
      ),
    accept: (answered) => {
      const offered = ours
      if (offered === undefined) return Result.fail("nothing was offered")
      return Result.flatMap(Sdp.parse(answered), (description) =>
        Result.mapBoth(SdpOffer.accept(offered, description), {
          onFailure: ({ reason }) => reason,
          onSuccess: (agreed) => {
            unanswered = false
            connect(agreed)
          }
        })
      )
    },
    agreed: () => ours !== undefined && !unanswered,
    hasTelephoneEvents: () => remote !== undefined && remote.telephoneEvent !== null,
    close: () => {
      if (closed) return
      closed = true
      if (place !== undefined) run(plane.close(legId), ignore)
    }
  }
}
