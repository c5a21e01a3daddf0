import type { Command } from "./Command.ts"

/**
 * The module of each family of commands, by the first word of its commands and in the order of the help. A command line
 * loads only its own family, because the commands bring the modules of the service with them.
 */
const families = {
  route: () => import("../number/RouteCommands.ts"),
  ban: () => import("../installation/BanCommands.ts"),
  signup: () => import("../tenant/SignupCommands.ts"),
  tenant: () => import("../tenant/TenantCommands.ts"),
  key: () => import("../tenant/KeyCommands.ts"),
  number: () => import("../number/NumberCommands.ts"),
  numbers: () => import("../number/NumberCommands.ts"),
  port: () => import("../number/PortingCommands.ts"),
  rates: () => import("../money/RateCommands.ts"),
  prices: () => import("../money/RateCommands.ts"),
  cost: () => import("../money/CostCommands.ts"),
  margin: () => import("../money/CostCommands.ts"),
  destinations: () => import("../tenant/DialingPermissionCommands.ts"),
  targets: () => import("../tenant/TargetCommands.ts"),
  endpoint: () => import("../installation/EndpointCommands.ts"),
  delivery: () => import("../installation/EndpointCommands.ts"),
  audit: () => import("../tenant/AuditCommands.ts"),
  ledger: () => import("../money/LedgerCommands.ts"),
  payment: () => import("../money/PaymentCommands.ts"),
  invoice: () => import("../money/InvoiceCommands.ts"),
  plan: () => import("../money/PlanCommands.ts"),
  job: () => import("../installation/JobCommands.ts"),
  "simulate-inbound": () => import("../call/CallCommands.ts"),
  call: () => import("../call/CallCommands.ts"),
  cdr: () => import("../call/CdrCommands.ts"),
  conference: () => import("../call/ConferenceCommands.ts"),
  recording: () => import("../call/RecordingCommands.ts"),
  operator: () => import("../installation/OperatorCommands.ts"),
  vault: () => import("../installation/VaultCommands.ts"),
  backup: () => import("../installation/BackupCommands.ts")
}

type Families = typeof families
type Any = Awaited<ReturnType<Families[keyof Families]>>["commands"][number]

/** The services that the commands work with. */
export type Needs = Any extends Command<infer R> ? R : never

/** Every command, in the order of the help. */
export const all = async (): Promise<ReadonlyArray<Command<Needs>>> => {
  const modules = await Promise.all(Object.values(families).map((load) => load()))
  return [...new Set(modules)].flatMap(({ commands }): ReadonlyArray<Command<Needs>> => commands)
}

/** The commands that begin with this word. */
export const startingWith = async (word: string): Promise<ReadonlyArray<Command>> => {
  const load = Object.entries(families).find(([name]) => name === word)?.[1]
  const commands: ReadonlyArray<Command> = load === undefined ? [] : (await load()).commands
  return commands.filter(({ words }) => words.split(" ")[0] === word)
}
