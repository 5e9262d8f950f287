import { PigeonholeError } from "../base/error.js";
import type { WorkChoice } from "./inbox-view.js";

/** What a group of errors is found by, in columns of the work. */
export interface ErrorGroupKey {
  groupHandler: string;
  groupType: string;
  groupKey: string;
}

/** The id of a group; it goes into URLs. */
export function toErrorGroupId({ groupHandler, groupType, groupKey }: ErrorGroupKey): string {
  return Buffer.from(JSON.stringify([groupHandler, groupType, groupKey])).toString("base64url");
}

/** Undefined for a text that is no id of a group. */
export function readErrorGroupId(id: string): ErrorGroupKey | undefined {
  const parts = readParts(id);
  const [groupHandler, groupType, groupKey] = parts;
  if (groupHandler === undefined || groupType === undefined || groupKey === undefined || parts.length !== 3)
    return undefined;
  return { groupHandler, groupType, groupKey };
}

function keyOfGroup(id: string): ErrorGroupKey {
  const key = readErrorGroupId(id);
  if (key !== undefined) return key;
  throw new PigeonholeError("invalid_argument", "errorGroup must be the id of a group of errors, as listed.");
}

function readParts(id: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(id, "base64url").toString());
    return Array.isArray(parts) && parts.every((part) => typeof part === "string") ? parts : [];
  } catch {
    return [];
  }
}

/** Most ids in a choice. */
const MAX_IDS = 500;

/** The parameters of a choice besides its own fields: those of its group, and its ids. Throws `invalid_argument`. */
export function choiceValues({ errorGroup, ids }: WorkChoice): Partial<ErrorGroupKey> & { ids?: readonly string[] } {
  if (ids !== undefined && (ids.length > MAX_IDS || !ids.every((id) => typeof id === "string"))) {
    throw new PigeonholeError("invalid_argument", `ids must be at most ${MAX_IDS} ids of events.`);
  }
  return {
    ...(errorGroup === undefined ? {} : keyOfGroup(errorGroup)),
    ...(ids === undefined ? {} : { ids }),
  };
}
