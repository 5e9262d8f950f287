import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../frame/command-error.js";

/** Text of the file of `--cacert`. */
export function readCertificates(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), "utf8");
  } catch {
    throw usageError(`--cacert: the file ${file} cannot be read.`);
  }
}
