import { randomBytes } from "node:crypto";
import { DASHBOARD_SECRET, SECRET_BYTES } from "../../dashboard-secret.js";
import type { Sql } from "../sql.js";

const SELECT = "SELECT value FROM pigeonhole.inbox_secret WHERE name = :name";

/** Of two processes that ask at once, one makes it; the other waits for it and reads the same. */
export async function dashboardSecret(sql: Sql): Promise<Uint8Array> {
  const name = DASHBOARD_SECRET;
  const known = await sql.row<{ value: Uint8Array }>(SELECT, { name });
  if (known !== undefined) return known.value;
  await sql.run("INSERT INTO pigeonhole.inbox_secret (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING", {
    name,
    value: randomBytes(SECRET_BYTES),
  });
  const made = await sql.row<{ value: Uint8Array }>(SELECT, { name });
  return made?.value ?? dashboardSecret(sql);
}
