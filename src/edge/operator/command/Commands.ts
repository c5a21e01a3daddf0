import * as AuditCommands from "../audit/AuditCommands.ts"
import * as BanCommands from "../ban/BanCommands.ts"
import * as BackupCommands from "../backup/BackupCommands.ts"
import * as CallCommands from "../call/CallCommands.ts"
import type { Command } from "./Command.ts"
import * as ConferenceCommands from "../conference/ConferenceCommands.ts"
import * as CostCommands from "../cost/CostCommands.ts"
import * as DialingPermissionCommands from "../destination/DialingPermissionCommands.ts"
import * as EndpointCommands from "../endpoint/EndpointCommands.ts"
import * as InvoiceCommands from "../invoice/InvoiceCommands.ts"
import * as JobCommands from "../job/JobCommands.ts"
import * as KeyCommands from "../key/KeyCommands.ts"
import * as LedgerCommands from "../ledger/LedgerCommands.ts"
import * as NumberCommands from "../number/NumberCommands.ts"
import * as PortingCommands from "../porting/PortingCommands.ts"
import * as PaymentCommands from "../payment/PaymentCommands.ts"
import * as PlanCommands from "../plan/PlanCommands.ts"
import * as RateCommands from "../rate/RateCommands.ts"
import * as RecordingCommands from "../recording/RecordingCommands.ts"
import * as RouteCommands from "../route/RouteCommands.ts"
import * as TargetCommands from "../target/TargetCommands.ts"
import * as TenantCommands from "../tenant/TenantCommands.ts"
import * as VaultCommands from "../vault/VaultCommands.ts"

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
