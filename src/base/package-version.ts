import { readFileSync } from "node:fs";
import { PACKAGE_FOLDER } from "./package-folder.js";

/** The version of this package. */
export function readPackageVersion(): string {
  const text = readFileSync(new URL("package.json", PACKAGE_FOLDER), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
