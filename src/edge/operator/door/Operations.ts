import { Effect } from "effect"
import * as AuditOperations from "../audit/AuditOperations.ts"
import * as BanOperations from "../ban/BanOperations.ts"
import * as BackupOperations from "../backup/BackupOperations.ts"
import * as CallOperations from "../call/CallOperations.ts"
import * as ConferenceOperations from "../conference/ConferenceOperations.ts"
import * as CostOperations from "../cost/CostOperations.ts"
import * as DialingPermissionOperations from "../destination/DialingPermissionOperations.ts"
import * as InboundOperations from "../call/InboundOperations.ts"
import * as EndpointOperations from "../endpoint/EndpointOperations.ts"
import * as InvoiceOperations from "../invoice/InvoiceOperations.ts"
import * as JobOperations from "../job/JobOperations.ts"
import * as KeyOperations from "../key/KeyOperations.ts"
import * as LedgerOperations from "../ledger/LedgerOperations.ts"
import * as NumberOperations from "../number/NumberOperations.ts"
import * as PortingOperations from "../porting/PortingOperations.ts"
import * as PaymentOperations from "../payment/PaymentOperations.ts"
import * as PlanOperations from "../plan/PlanOperations.ts"
import * as RateOperations from "../rate/RateOperations.ts"
import * as RecordingOperations from "../recording/RecordingOperations.ts"
import * as RouteOperations from "../route/RouteOperations.ts"
import * as TargetOperations from "../target/TargetOperations.ts"
import * as ClosingOperations from "../tenant/ClosingOperations.ts"
import * as TenantOperations from "../tenant/TenantOperations.ts"
import * as VaultOperations from "../vault/VaultOperations.ts"

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
