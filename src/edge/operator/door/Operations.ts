import { Effect } from "effect"
import * as AuditOperations from "../tenant/AuditOperations.ts"
import * as BanOperations from "../installation/BanOperations.ts"
import * as BackupOperations from "../installation/BackupOperations.ts"
import * as CallOperations from "../call/CallOperations.ts"
import * as ConferenceOperations from "../call/ConferenceOperations.ts"
import * as CostOperations from "../cost/CostOperations.ts"
import * as DialingPermissionOperations from "../tenant/DialingPermissionOperations.ts"
import * as InboundOperations from "../call/InboundOperations.ts"
import * as EndpointOperations from "../installation/EndpointOperations.ts"
import * as InvoiceOperations from "../money/InvoiceOperations.ts"
import * as JobOperations from "../installation/JobOperations.ts"
import * as KeyOperations from "../tenant/KeyOperations.ts"
import * as LedgerOperations from "../money/LedgerOperations.ts"
import * as NumberOperations from "../number/NumberOperations.ts"
import * as PortingOperations from "../number/PortingOperations.ts"
import * as PaymentOperations from "../money/PaymentOperations.ts"
import * as PlanOperations from "../money/PlanOperations.ts"
import * as RateOperations from "../money/RateOperations.ts"
import * as RecordingOperations from "../call/RecordingOperations.ts"
import * as RouteOperations from "../number/RouteOperations.ts"
import * as TargetOperations from "../tenant/TargetOperations.ts"
import * as ClosingOperations from "../tenant/ClosingOperations.ts"
import * as TenantOperations from "../tenant/TenantOperations.ts"
import * as VaultOperations from "../installation/VaultOperations.ts"

/** Everything that the operator's door can be asked. */
export const make = Effect.map(
  Effect.all([
    RouteOperations.make,
    BanOperations.make,
    TenantOperations.make,
    ClosingOperations.make,
    KeyOperations.make,
    NumberOperations.make,
    PortingOperations.make,
    RateOperations.make,
    CostOperations.make,
    DialingPermissionOperations.make,
    TargetOperations.make,
    InboundOperations.make,
    CallOperations.make,
    ConferenceOperations.make,
    RecordingOperations.make,
    EndpointOperations.make,
    AuditOperations.make,
    LedgerOperations.make,
    PaymentOperations.make,
    InvoiceOperations.make,
    PlanOperations.make,
    JobOperations.make,
    VaultOperations.make,
    BackupOperations.make
  ]),
  (families) => families.flat()
)
