import type { S3Store } from "../../../ports/storage/s3/S3Storage.ts"
import * as Environment from "./Environment.ts"

/** Null: recordings are stored under `DATA_DIR`. */
export const store = (env: Environment.Environment): S3Store | null => {
  const variable = "RECORDING_STORE"
  const target = env.service(variable, ["https:", "http:"], { authorities: env.file("RECORDING_STORE_CA_FILE") })
  if (target === null) return null
  const accessKeyId = env.optional("S3_ACCESS_KEY_ID")
  const secretAccessKey = env.secret("S3_SECRET_ACCESS_KEY")
  if (accessKeyId === null || secretAccessKey === null)
    return Environment.fail(variable, "needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
  const { host, pathname } = new URL(env.text(variable, ""))
  const path = pathname.replace(/\/+$/, "")
  if (path === "") return Environment.fail(variable, "must name the bucket: https://host/bucket")
  return { target, host, path, region: env.text("S3_REGION", "us-east-1"), accessKeyId, secretAccessKey }
}
