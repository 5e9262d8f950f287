import { escapeControls } from "../../base/text.js";
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import { readCaptureFiles, reasonOf } from "../folder/capture-files.js";
import { readExport } from "../folder/read-export.js";
import { isNamed } from "../model/capture-handle.js";
import type { Capture } from "../model/capture.js";
import { byTime, type CaptureReader } from "../folder/load-folder.js";
import { matchesQuery, parseQuery } from "./query.js";

/** Number of captures that an error lists. */
const MAX_NAMED = 5;

/**
 * Picks captures by words, oldest first and each once: `last`, `last:email.received`, `all`, an id (of the capture or
 * its event), the beginning of only one id, the short name that lists show ({@link isNamed}, with or without `#`), a
 * path from `cwd` to a file or folder (with a slash, `.json` or `.ndjson`), or a search such as `tag:vip`.
 *
 * Throws `no_capture` for a word that picks none or could mean several, `invalid_query` for an invalid search, and
 * `invalid_capture` for a file that is not a capture.
 */
export function selectCaptures(reader: CaptureReader, words: readonly string[], cwd: string, nowMs = Date.now()) {
  const picked = new Map<string, Capture>();
  for (const word of words.map((each) => each.trim())) {
    for (const capture of pick(reader, word, resolve(cwd, word), nowMs)) picked.set(capture.id, capture);
  }
  return [...picked.values()].toSorted(byTime);
}

function pick(reader: CaptureReader, word: string, path: string, nowMs: number): readonly Capture[] {
  if (word === "all") return reader.list();
  if (word === "last" || word.startsWith("last:")) return [pickLast(reader, word, nowMs)];
  const mayBeSearch = /[:\s]/.test(word.replace(/^[A-Za-z]:[\\/]/, ""));
  if (/[/\\]|\.(?:nd)?json$/.test(word) && (!mayBeSearch || existsSync(path))) return readPath(path);
  if (!/[:\s"]/.test(word)) {
    const byId = pickById(reader, word);
    if (byId !== undefined) return [byId];
    throw notFound(word, path);
  }
  return pickByQuery(reader, word, nowMs);
}

function pickLast(reader: CaptureReader, word: string, nowMs: number): Capture {
  const type = word === "last" ? "" : word.slice("last:".length);
  const query = parseQuery(type === "" ? "" : `type:"${type}"`);
  const found = reader.list().find((capture) => matchesQuery(query, capture, nowMs));
  if (found !== undefined) return found;
  const what =
    type === "" ? "There are no captures yet: pigeonhole dev writes them." : `No capture is of the type ${type}.`;
  throw new PigeonholeError("no_capture", `"${word}" picks nothing. ${what}`);
}

function pickById(reader: CaptureReader, word: string): Capture | undefined {
  const exact = reader.get(word) ?? reader.list().find(({ event }) => event.id === word);
  if (exact !== undefined) return exact;
  const found = reader.list().filter((capture) => isNamed(capture, word));
  const [first] = found;
  if (found.length <= 1) return first;
  const shown = found
    .slice(0, MAX_NAMED)
    .map(({ id, event }) => `${id} (${escapeControls(event.id ?? "without event id")})`);
  const more = found.length > shown.length ? " and more" : "";
  throw new PigeonholeError(
    "no_capture",
    `${found.length} captures could be meant by "${word}": ${shown.join(", ")}${more}. Give more of an id.`,
  );
}

function notFound(word: string, path: string): PigeonholeError {
  // A path needs a slash; otherwise it could be an id.
  const file = existsSync(path) ? ` To read the file of that name, write ./${word}.` : "";
  return new PigeonholeError(
    "no_capture",
    `No capture has an id that begins with "${escapeControls(word)}", or that short name.${file} Other allowed words: last, last:<type>, all, a path, or a search such as type:email.*.`,
  );
}

function pickByQuery(reader: CaptureReader, word: string, nowMs: number): Capture[] {
  const query = parseQuery(word);
  const found = reader.list().filter((capture) => matchesQuery(query, capture, nowMs));
  if (found.length > 0) return found;
  throw new PigeonholeError("no_capture", `No capture matches ${escapeControls(word)}.`);
}

function readPath(path: string): Capture[] {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return readFile(path);
  const { files, broken } = readCaptureFiles(path);
  const [first] = broken;
  if (first !== undefined) throw new PigeonholeError("invalid_capture", `${first.file}: ${first.reason}`);
  if (files.length > 0) return files.map(({ capture }) => capture);
  throw new PigeonholeError("no_capture", `There are no *.json files in "${path}".`);
}

/** A file may have more than one capture, as an export has. */
function readFile(path: string): Capture[] {
  try {
    return readExport(readFileSync(path, "utf8"));
  } catch (error) {
    throw new PigeonholeError("invalid_capture", `${path}: ${reasonOf(error)}`);
  }
}
