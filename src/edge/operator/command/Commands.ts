import * as AuditCommands from "../tenant/AuditCommands.ts"
import * as BanCommands from "../installation/BanCommands.ts"
import * as BackupCommands from "../installation/BackupCommands.ts"
import * as CallCommands from "../call/CallCommands.ts"
import type { Command } from "./Command.ts"
import * as ConferenceCommands from "../call/ConferenceCommands.ts"
import * as CostCommands from "../cost/CostCommands.ts"
import * as DialingPermissionCommands from "../tenant/DialingPermissionCommands.ts"
import * as EndpointCommands from "../installation/EndpointCommands.ts"
import * as InvoiceCommands from "../money/InvoiceCommands.ts"
import * as JobCommands from "../installation/JobCommands.ts"
import * as KeyCommands from "../tenant/KeyCommands.ts"
import * as LedgerCommands from "../money/LedgerCommands.ts"
import * as NumberCommands from "../number/NumberCommands.ts"
import * as PortingCommands from "../number/PortingCommands.ts"
import * as PaymentCommands from "../money/PaymentCommands.ts"
import * as PlanCommands from "../money/PlanCommands.ts"
import * as RateCommands from "../money/RateCommands.ts"
import * as RecordingCommands from "../call/RecordingCommands.ts"
import * as RouteCommands from "../number/RouteCommands.ts"
import * as TargetCommands from "../tenant/TargetCommands.ts"
import * as TenantCommands from "../tenant/TenantCommands.ts"
import * as VaultCommands from "../installation/VaultCommands.ts"

/** Every command of the operator, in the order of the help. */
export const commands: ReadonlyArray<Command> = [
  ...RouteCommands.commands,
  ...BanCommands.commands,
  ...TenantCommands.commands,
  ...KeyCommands.commands,
  ...NumberCommands.commands,
  ...PortingCommands.commands,
  ...RateCommands.commands,
  ...CostCommands.commands,
  ...DialingPermissionCommands.commands,
  ...TargetCommands.commands,
  ...EndpointCommands.commands,
  ...AuditCommands.commands,
  ...LedgerCommands.commands,
  ...PaymentCommands.commands,
  ...InvoiceCommands.commands,
  ...PlanCommands.commands,
  ...JobCommands.commands,
  ...CallCommands.commands,
  ...ConferenceCommands.commands,
  ...RecordingCommands.commands,
  ...VaultCommands.commands,
  ...BackupCommands.commands
]
