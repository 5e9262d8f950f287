import type { Database } from "better-sqlite3";
import type { SendPage, SendRequest } from "../../outbox.js";
import { leaseCall } from "../../queries/outbox-calls.js";
import type { TakeTokens } from "../lease-token.js";
import { runInFile } from "../run-in-file.js";
import { prepareReadEpoch } from "./recover.js";

/** A former owner makes no calls: the new owner could not know that it died in one, and leases of calls are long. */
export const NO_SEND: SendPage = { send: undefined, nextDueAt: undefined };

/** `epoch` is that of the process that asks; undefined if it has never taken the file over. */
export function prepareLeaseSend(db: Database, takeTokens: TakeTokens) {
  const readEpoch = prepareReadEpoch(db);
  return ({ epoch, ...request }: SendRequest & { epoch: number | undefined }): SendPage =>
    epoch === undefined || epoch === readEpoch()
      ? runInFile(db, leaseCall(request, { token: takeTokens(1) }))
      : NO_SEND;
}
