import { basename } from "node:path";

/** A package name made of the folder's: small letters, digits, dots and dashes. */
export function projectName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, "-")
    .replaceAll(/^[.-]+|[.-]+$/g, "");
  return name === "" ? "mail-receiver" : name;
}
