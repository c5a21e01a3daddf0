/**
 * What the API promises of conferences, row by row, on a running service: what is asked over HTTP, and what its signed
 * webhooks say. Every row runs behind the simulated carrier and behind SIP; all of them side by side, on one service.
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
