import { Effect } from "effect"
import { connect, isIP, isIPv6, type Socket } from "node:net"
import { getCACertificates } from "node:tls"
import type { EgressError } from "../../egress/Egress.ts"
import { addressMs, type Pinned } from "../../egress/Pinned.ts"

/** The description of an open socket for nodemailer, which begins TLS on it. */
interface Opened {
  readonly connection: Socket
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly tls: {
    readonly servername?: string
    readonly host: string
    readonly ca?: ReadonlyArray<string>
    readonly rejectUnauthorized: boolean
    readonly minVersion: "TLSv1.2"
  }
}

type Callback = (error: Error | null, opened?: Opened) => void

/** Opens sockets for nodemailer to the addresses that the egress gives, and resolves nothing else. */
export const opener =
  (
    pin: Effect.Effect<Pinned, EgressError>,
    { timeoutMs, verifies }: { readonly verifies: boolean; readonly timeoutMs: number }
  ) =>
  (_options: unknown, callback: Callback): void => {
    const opened = Effect.flatMap(pin, (pinned) =>
      Effect.map(socketTo(pinned, timeoutMs), (connection): Opened => ({
        connection,
        host: pinned.host,
        port: pinned.port,
        secure: pinned.secure,
        tls: {
          host: pinned.host,
          // RFC 6066 section 3: an IP address is no server name.
          ...(isIP(pinned.host) === 0 ? { servername: pinned.host } : {}),
          ...(pinned.authorities === null ? {} : { ca: [...getCACertificates("default"), pinned.authorities] }),
          rejectUnauthorized: verifies,
          minVersion: "TLSv1.2"
        }
      }))
    )
    Effect.runCallback(opened, {
      onExit: (exit) => {
        if (exit._tag === "Success") return callback(null, exit.value)
        const [reason] = exit.cause.reasons
        const error = reason?._tag === "Fail" ? reason.error : null
        callback(new Error(error instanceof Error ? error.message : "the mail server cannot be reached"))
      }
    })
  }

const socketTo = ({ addresses, host, port }: Pinned, timeoutMs: number): Effect.Effect<Socket, Error> =>
  Effect.callback<Socket, Error>((resume) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
    const socket = connect({
      host,
      port,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: addressMs,
      lookup: (_name, _options, answer) => answer(null, found)
    })
    const failed = (error: Error) => {
      socket.destroy()
      resume(Effect.fail(error))
    }
    socket.setTimeout(timeoutMs, () => failed(new Error("the mail server does not answer")))
    socket.once("error", failed)
    socket.once("connect", () => {
      socket.setTimeout(0)
      socket.removeAllListeners("timeout")
      socket.removeListener("error", failed)
      resume(Effect.succeed(socket))
    })
    return Effect.sync(() => socket.destroy())
  })
