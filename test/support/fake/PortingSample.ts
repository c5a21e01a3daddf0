/** The smallest whole files that documents may be. */

const bytes = (content: string) => new Uint8Array(Buffer.from(content, "latin1"))

const head = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
export const pdf = bytes(
  `${head}xref\n0 1\n0000000000 65535 f \ntrailer<</Root 1 0 R/Size 3>>\nstartxref\n${head.length}\n%%EOF\n`
)

export const png = new Uint8Array(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64"
  )
)

export const jpeg = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, ...Array.from({ length: 80 }, () => 0), 0xff, 0xd9])

/** One directory of one entry, at offset 8. */
export const tiff = Uint8Array.from([
  0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x00, 0x01, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0
])

export const endUser = {
  entity_name: "Acme Inc.",
  authorized_person_name: "Ada Lovelace",
  account_number: "A-1234",
  pin_passcode: "0000",
  address: {
    street_address: "1600 Market Street",
    locality: "Philadelphia",
    administrative_area: "PA",
    postal_code: "19103",
    country_code: "US"
  }
} as const
