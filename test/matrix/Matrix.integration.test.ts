/**
 * The promises of the API about calls, row by row, on a running service: its HTTP answers and its signed webhooks.
 * Every row runs with the simulated carrier and with SIP; all of them concurrently, on one service.
 */
import * as Elsewhere from "./Elsewhere.ts"
import type { Row } from "./Row.ts"
import * as ConnectRows from "./row/ConnectRows.ts"
import * as ControlRows from "./row/ControlRows.ts"
import * as DetectionRows from "./row/DetectionRows.ts"
import * as FieldRows from "./row/FieldRows.ts"
import * as GatherRows from "./row/GatherRows.ts"
import * as MoneyRows from "./row/MoneyRows.ts"
import * as NumberRows from "./row/NumberRows.ts"
import * as RaceRows from "./row/RaceRows.ts"
import * as RecordingRows from "./row/RecordingRows.ts"
import * as RefusalRows from "./row/RefusalRows.ts"
import * as ShownRows from "./row/ShownRows.ts"
import * as SoundRows from "./row/SoundRows.ts"
import * as SpeechRows from "./row/SpeechRows.ts"
import * as StateRows from "./row/StateRows.ts"
import * as StreamRows from "./row/StreamRows.ts"
import * as Contract from "./Contract.ts"
import * as Suite from "./Suite.ts"

/** The longest rows come first. */
const rows: ReadonlyArray<Row> = [
  ...DetectionRows.rows,
  ...FieldRows.rows,
  ...ControlRows.rows,
  ...StateRows.rows,
  ...ConnectRows.rows,
  ...SoundRows.rows,
  ...GatherRows.rows,
  ...RecordingRows.rows,
  ...StreamRows.rows,
  ...SpeechRows.rows,
  ...RaceRows.rows,
  ...MoneyRows.rows,
  ...NumberRows.rows,
  ...RefusalRows.rows,
  ...ShownRows.rows
]

Suite.run("Calls, as specified", {
  rows,
  facts: (carrier) => {
    const elsewhere = Elsewhere.all.flatMap(({ facts, only = carrier }) => (only === carrier ? facts : []))
    return Contract.facts().filter((fact) => !elsewhere.includes(fact) && !Elsewhere.unraised.includes(fact))
  }
})
