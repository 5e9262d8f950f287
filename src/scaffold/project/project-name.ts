import { basename } from "node:path";

/** A package name made from the folder's name: lower-case letters, digits, dots and dashes. */
export function projectName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, "-")
    .replaceAll(/^[.-]+|[.-]+$/g, "");
  return name === "" ? "mail-receiver" : name;
}
