import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder, narrowModes, writePrivateFile } from "../../capture/folder/private-folder.js";

/** What keeps other people's pages and programs away from the page's port. */
export interface GuardSecrets {
  /** The port of the page. */
  port: number;
  /** Part of the printed URL, and of `Authorization: Bearer` in scripts. */
  urlToken: string;
  /** Value of the cookie. */
  cookieToken: string;
}

const FILE = "page-token";
const TOKEN = /^[\w-]{43}$/;

/**
 * The tokens of a project's page. They are kept in a file that only this user can read, so that an open page, its
 * cookie and a bookmark of its URL outlive a restart. Where the file cannot be written they are of this run.
 */
export async function projectTokens(folder: string): Promise<Pick<GuardSecrets, "urlToken" | "cookieToken">> {
  const file = join(folder, FILE);
  const urlToken = readToken(file) ?? (await keepToken(folder, file, randomBytes(32).toString("base64url")));
  // Derived, so that one file is enough; the URL's token cannot be computed from it.
  return { urlToken, cookieToken: digest(`cookie ${urlToken}`).toString("base64url") };
}

function readToken(file: string): string | undefined {
  // A link may lead to a file that others can write.
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  narrowModes([file]);
  const text = readFileSync(file, "utf8").trim();
  return TOKEN.test(text) ? text : undefined;
}

async function keepToken(folder: string, file: string, token: string): Promise<string> {
  try {
    makePrivateFolder(folder);
    await writePrivateFile(file, `${token}\n`);
  } catch {
    // The page works without it; its token ends with this run.
  }
  return token;
}

/** Compares in constant time, for any lengths. */
export function isSameToken(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
