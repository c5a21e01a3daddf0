import * as Id from "../../src/domain/Id.ts"

/** Ids of any text: what a test names a call, it may compare with and read in a failure. */
export const call = (text: string) => Id.CallId.make(text)
export const leg = (text: string) => Id.LegId.make(text)
export const route = (text: string) => Id.RouteId.make(text)
export const subscription = (text: string) => Id.SubscriptionId.make(text)
export const number = (text: string) => Id.NumberId.make(text)
export const order = (text: string) => Id.OrderId.make(text)
export const ledgerEntry = (text: string) => Id.LedgerEntryId.make(text)
export const tenant = (text: string) => Id.TenantId.make(text)
export const user = (text: string) => Id.UserId.make(text)
export const apiKey = (text: string) => Id.ApiKeyId.make(text)
export const event = (text: string) => Id.EventId.make(text)
export const delivery = (text: string) => Id.DeliveryId.make(text)
export const audit = (text: string) => Id.AuditId.make(text)
export const rule = (text: string) => Id.DialingRuleId.make(text)
export const command = (text: string) => Id.CommandId.make(text)
export const work = (text: string) => Id.WorkId.make(text)
