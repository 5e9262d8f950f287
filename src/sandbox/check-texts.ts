import { PigeonholeError } from "../base/error.js";

/** An option that is a list of texts. */
export function checkTexts(option: string, list: readonly string[]): readonly string[] {
  if (Array.isArray(list) && list.every((entry) => typeof entry === "string")) return list;
  throw new PigeonholeError("invalid_option", `${option} must be a list of strings.`);
}
