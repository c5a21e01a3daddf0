import type { CarrierCommand, LegReport } from "./Carrier.ts"

/** The outcome of a command that cannot be carried out for `reason`; null when such a command has no outcome. */
export const of = (command: CarrierCommand, reason: "unknown_leg" | "not_answered"): LegReport | null => {
  switch (command.type) {
    case "answer":
    case "media":
    case "bridge":
    case "refer":
    case "join_room":
      return { type: "command_failed", commandId: command.commandId, reason }
    case "dial":
    case "ring":
    case "unbridge":
    case "leave_room":
    case "reject":
    case "hangup":
      return null
  }
}

/** All reports that a command causes when this process never had its leg, or no longer has it. */
export const ofUnknownLeg = (command: CarrierCommand): ReadonlyArray<LegReport> => {
  const failure = of(command, "unknown_leg")
  const mustBeGone = command.type === "answer" || command.type === "reject" || command.type === "hangup"
  return [
    ...(failure === null ? [] : [failure]),
    ...(mustBeGone ? [{ type: "ended", cause: "lost", sipStatus: null, by: "network" } as const] : [])
  ]
}
