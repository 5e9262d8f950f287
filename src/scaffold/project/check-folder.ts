import { readdirSync, statSync } from "node:fs";
import { PigeonholeError } from "../../base/error.js";

/** Throws `folder_not_empty` for a folder with anything but `.git` in it, and `invalid_argument` for a file. */
export function checkFolder(folder: string, overwrite: boolean): void {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) throw new PigeonholeError("invalid_argument", `${folder} is a file; name a folder.`);
  const names = readdirSync(folder).filter((name) => name !== ".git");
  if (names.length === 0 || overwrite) return;
  throw new PigeonholeError(
    "folder_not_empty",
    `${folder} is not empty. Name another folder, or replace files of the same name with --overwrite.`,
  );
}
