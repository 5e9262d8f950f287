import type { Changes } from "../../base/options.js";
import { randomBytes } from "node:crypto";
import { PigeonholeError } from "../../base/error.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import { resolveSignatureAssumptions } from "../../protocol/resolve-assumptions.js";
import { signHere } from "../../protocol/sign-here.js";
import { bodyText, decodeBody, readEnvelope } from "../model/captured-body.js";
import { bodyBytes } from "../model/capture-request.js";
import { CUT_TAG, type Capture, type CapturedBody, type HeaderList, type SignMode } from "../model/capture.js";
import { editJson, type JsonEdit } from "../json/edit-json.js";
import { encodeBody } from "../model/encode-body.js";
import { headerListReader } from "../model/judge-signature.js";
import { dropHeaders, replaceHeaders } from "../send/outgoing-headers.js";

/** The options of a replay that decide its bytes and headers. */
export interface ReplayContent {
  /**
   * `resign`: the body with a new time and signature. `exact`: bytes and signature as captured, which a correct
   * receiver refuses after 300 s. @default 'resign'
   */
  mode?: SignMode | undefined;
  /**
   * `same-id` exercises deduplication; `new-id` makes the receiver run its handlers again. @default 'same-id', but
   * 'new-id' for an edited body that has the captured id
   */
  identity?: "same-id" | "new-id" | undefined;
  /** The whole secret including `whsec_`; needed for `resign`. */
  secret?: string | undefined;
  /** Changes fields of a JSON body, or replaces the body with a text. */
  edit?: JsonEdit | { body: string } | undefined;
  /** Overrides for points that the service's documentation leaves open. @default SIGNATURE_ASSUMPTIONS */
  assumptions?: Changes<SignatureAssumptions> | undefined;
}

/** A body to send, and the changes to it. */
export interface BuiltBody {
  body: Uint8Array;
  /** Null if it is the captured one. */
  changed: CapturedBody | null;
  /** Event id if it differs from the captured one. */
  eventId: string | null;
  /** What could not be done, one sentence each. */
  notes: string[];
}

const MAX_OLD_ID_LENGTH = 200;

/** Throws `invalid_argument` for options that contradict each other, and `invalid_secret` if a secret is needed. */
export function checkReplayContent({ mode = "resign", identity, edit, secret }: ReplayContent): void {
  if (mode === "exact" && (identity === "new-id" || edit !== undefined)) {
    const what = edit === undefined ? "A new event id" : "An edited body";
    throw new PigeonholeError(
      "invalid_argument",
      `${what} changes the bytes, so the request must be signed again, not sent exact.`,
    );
  }
  if (mode === "resign" && (secret === undefined || secret.trim() === "")) {
    throw new PigeonholeError(
      "invalid_secret",
      "Signing needs the endpoint's secret: the whole string including whsec_. Without it only exact replays work.",
    );
  }
}

/** The body of one replay. Each call makes a different new id. */
export function buildReplayBody(capture: Capture, { identity, edit }: ReplayContent): BuiltBody {
  const edited = editBody(capture, edit);
  if ((identity ?? defaultIdentity(capture, edited)) === "same-id") return finish(capture, edited, []);
  const text = bodyText(edited ?? capture.request.body);
  const oldId = readEnvelope(edited ?? capture.request.body).id;
  const newId = `${(oldId ?? "").slice(0, MAX_OLD_ID_LENGTH)}-replay-${randomBytes(4).toString("hex")}`;
  const changed = text === undefined || oldId === null ? undefined : changeEventId(text, newId);
  return changed === undefined
    ? finish(capture, edited, [noIdNote(edited)])
    : finish(capture, { encoding: "utf8", data: changed }, []);
}

function noIdNote(edited: CapturedBody | undefined): string {
  const sent = edited === undefined ? "The captured bytes were sent" : "It was sent as edited";
  return `The body has no id that could be replaced by a new one. ${sent}, signed again.`;
}

/** A receiver that has the captured id would not even look at another body of it. */
function defaultIdentity({ event }: Capture, edited: CapturedBody | undefined): "same-id" | "new-id" {
  if (edited === undefined || event.id === null) return "same-id";
  return readEnvelope(edited).id === event.id ? "new-id" : "same-id";
}

function finish(capture: Capture, changed: CapturedBody | undefined, notes: string[]): BuiltBody {
  const cut = capture.tags.includes(CUT_TAG) ? ["Only the beginning of its body was kept, and was sent."] : [];
  if (changed === undefined)
    return { body: bodyBytes(capture), changed: null, eventId: null, notes: [...notes, ...cut] };
  const { id } = readEnvelope(changed);
  return { body: decodeBody(changed), changed, eventId: id === capture.event.id ? null : id, notes };
}

function editBody(capture: Capture, edit: ReplayContent["edit"]): CapturedBody | undefined {
  if (edit === undefined) return undefined;
  if ("body" in edit) return encodeBody(Buffer.from(edit.body));
  const text = bodyText(capture.request.body);
  if (text !== undefined) return { encoding: "utf8", data: editJson(text, edit) };
  throw new PigeonholeError("invalid_argument", `The body of ${capture.id} is not text, so no field of it can be set.`);
}

/** The headers of one replay: as captured, or with a new signature in the captured form. */
export function buildReplayHeaders(
  capture: Capture,
  body: Uint8Array,
  { mode = "resign", secret = "", assumptions, nowMs }: ReplayContent & { nowMs: number },
): HeaderList {
  const { headers } = capture.request;
  if (mode === "exact") return headers;
  const { signatureHeader, timestampHeader, timestampIn } = resolveSignatureAssumptions(assumptions);
  const header = headerListReader(headers);
  const isBare =
    timestampIn === "header" ||
    (timestampIn === "either" &&
      header(timestampHeader) !== undefined &&
      header(signatureHeader)?.includes("t=") === false);
  const signed = signHere({
    body,
    secret,
    timestamp: nowMs,
    format: isBare ? "bare" : "combined",
    assumptions,
  });
  // An old time beside the signed one would be misleading.
  const kept = isBare ? headers : dropHeaders(headers, [timestampHeader]);
  return replaceHeaders(kept, new Map(Object.entries(signed)));
}

/** A token of JSON: a string, a punctuation character, or anything else up to the next of these. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/**
 * Replaces the `id` in the text of an envelope and leaves every other byte unchanged. Undefined if the text is not a
 * JSON object with a string `id`.
 */
export function changeEventId(text: string, id: string): string | undefined {
  const place = findTopLevelId(text);
  return place && text.slice(0, place.start) + JSON.stringify(id) + text.slice(place.end);
}

/** If `id` occurs twice, the later one counts, as in JSON.parse. */
function findTopLevelId(text: string): { start: number; end: number } | undefined {
  if (!isJsonObject(text)) return undefined;
  let depth = 0;
  let key: string | undefined;
  let previous = "";
  let found: { start: number; end: number } | undefined;
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    const isValue = previous === ":" && depth === 1;
    if (isValue && key === "id") {
      found = token.startsWith('"') ? { start: match.index, end: match.index + token.length } : undefined;
    }
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (depth === 1 && previous !== ":" && token.startsWith('"')) key = JSON.parse(token) as string;
    previous = token;
  }
  return found;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
