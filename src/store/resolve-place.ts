import { resolve } from "node:path";
import { isConnectionString } from "./connection-string.js";

/** A place of an inbox as `openInbox` takes it: a path is relative to the folder. */
export function resolvePlace(folder: string, place: string): string {
  return isConnectionString(place) ? place : resolve(folder, place);
}
