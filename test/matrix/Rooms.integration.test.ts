/**
 * The promises of the API about conferences, row by row, on a running service: its HTTP answers and its signed
 * webhooks. Every row runs with the simulated carrier and with SIP; all of them concurrently, on one service.
 */
import * as Contract from "./room/Contract.ts"
import * as FieldRows from "./room/row/FieldRows.ts"
import * as LifeRows from "./room/row/LifeRows.ts"
import * as ListRows from "./room/row/ListRows.ts"
import * as MemberRows from "./room/row/MemberRows.ts"
import * as MoneyRows from "./room/row/MoneyRows.ts"
import * as RaceRows from "./room/row/RaceRows.ts"
import * as RefusalRows from "./room/row/RefusalRows.ts"
import * as SoundRows from "./room/row/SoundRows.ts"
import * as StateRows from "./room/row/StateRows.ts"
import * as Suite from "./Suite.ts"

Suite.run("Conferences, as specified", {
  rows: [
    ...SoundRows.rows,
    ...MemberRows.rows,
    ...StateRows.rows,
    ...LifeRows.rows,
    ...RaceRows.rows,
    ...RefusalRows.rows,
    ...MoneyRows.rows,
    ...ListRows.rows,
    ...FieldRows.rows
  ],
  facts: Contract.facts
})
