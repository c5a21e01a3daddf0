import type { Request } from "../../../money/account/Account.ts"

/**
 * Money of the development processor pays for calls at the simulator, guide/money.md#the-development-processor. All
 * legs of a call are at one carrier.
 */
export const takenBy = (adapter: string): Pick<Request, "takesTestMoney"> =>
  adapter === "simulator" ? { takesTestMoney: true } : {}
