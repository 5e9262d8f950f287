import { randomBytes } from "node:crypto";
import { digestBytes } from "../model/capture-request.js";
import { type Capture, type CapturedBody, type CapturedEvent, type Expectation } from "../model/capture.js";
import { bodyJson, bodySize, decodeBody } from "../model/captured-body.js";
import { DEFAULT_ENDPOINT_PATH } from "../../protocol/endpoint-path.js";
import type { RedactionProfile } from "./redaction-profiles.js";
import { createFakeValues, maskText } from "./fake-values.js";
import { hideAddresses, redactValue, type RedactionRules } from "./redact-value.js";

export interface RedactorOptions {
  /** @default 'default' */
  profile?: RedactionProfile;
  /** Secret that decides the stand-ins. The same key gives the same stand-ins in every run. @default a random one */
  key?: Uint8Array;
}

/** Headers without personal data. The signature would no longer match, and any other header may contain an address. */
const KEPT_HEADERS = ["content-type", "user-agent"];

/**
 * Makes a function that removes personal data from captures. Within one redactor the same address always becomes the
 * same stand-in. The signature, the attempts and the note are removed too. A replay signs again.
 *
 * It recognizes formats, not meanings: check the result before you share it.
 */
export function createRedactor(options: RedactorOptions = {}): (capture: Capture) => Capture {
  const { profile = "default", key = randomBytes(32) } = options;
  const strict = profile === "strict";
  const rules: RedactionRules = { fakes: createFakeValues(key), strict };

  return (capture) => {
    const body = redactBody(capture.request.body, rules);
    const { expect, ...rest } = capture;
    return {
      v: 1,
      id: rest.id,
      receivedAt: rest.receivedAt,
      source: rest.source,
      request: {
        method: rest.request.method,
        path: strict ? DEFAULT_ENDPOINT_PATH : redactPath(rest.request.path, rules),
        query: "",
        headers: rest.request.headers.filter(([name]) => KEPT_HEADERS.includes(name.toLowerCase())),
        body,
        sha256: digestBytes(decodeBody(body)),
      },
      event: redactEvent(rest.event, rules),
      verify: {
        code: "missing",
        summary: "Redacted: the signature was removed with the bytes it was made for.",
        fix: "Replay it: that signs it again.",
        skewSeconds: null,
        secretRef: null,
      },
      attempts: [],
      tags: strict ? [] : rest.tags.map((tag) => hideAddresses(tag, rules)),
      note: "",
      pinned: rest.pinned,
      redaction: profile,
      // The expected JSON of an answer may quote the event. The rest is about the receiver.
      ...(expect && { expect: redactExpectation(expect, rules) }),
    };
  };
}

function redactExpectation(expect: Expectation, rules: RedactionRules): Expectation {
  const kept: Expectation = Object.fromEntries(Object.entries(expect).filter(([field]) => field !== "json"));
  const { ignore } = kept;
  return ignore === undefined ? kept : { ...kept, ignore: ignore.map((path) => hideAddresses(path, rules)) };
}

/** As the body has it. */
function redactEvent({ id, type, at }: CapturedEvent, rules: RedactionRules): CapturedEvent {
  const hide = (text: string | null, field: string): string | null =>
    text === null ? null : redactOwnField(text, field, rules);
  return { id: hide(id, "id"), type: hide(type, "type"), at: hide(at, "createdAt") };
}

function redactBody(body: CapturedBody, rules: RedactionRules): CapturedBody {
  const data = redactJson(body, rules);
  if (data !== undefined) return { encoding: "utf8", data };
  if (body.encoding === "utf8") return { encoding: "utf8", data: maskText(body.data, rules.strict) };
  return { encoding: "base64", data: Buffer.alloc(bodySize(body)).toString("base64") };
}

/** Undefined for a body that is not JSON, or is nested too deeply to recurse. */
function redactJson(body: CapturedBody, rules: RedactionRules): string | undefined {
  const json = bodyJson(body);
  try {
    return json.ok ? JSON.stringify(redactEnvelope(json.value, rules)) : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The envelope's own fields stay, since a replay needs `id` and `type`. */
function redactEnvelope(value: unknown, rules: RedactionRules): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return redactValue(value, "", rules);
  const fields: [string, unknown][] = [];
  for (const [key, field] of Object.entries(value) as [string, unknown][]) {
    const isOwn = ["id", "type", "createdAt"].includes(key) && typeof field === "string";
    fields.push([key, isOwn ? redactOwnField(field, key, rules) : redactValue(field, key, rules)]);
  }
  return Object.fromEntries(fields) as unknown;
}

function redactOwnField(text: string, key: string, rules: RedactionRules): string {
  return text.includes("@") ? String(redactValue(text, key, rules)) : text;
}

/** A path may contain a secret. Each part is redacted alone, since an address may contain a slash. */
function redactPath(path: string, rules: RedactionRules): string {
  const parts = path.replaceAll(/[^/]{16,}/g, "redacted").split("/");
  return parts.map((part) => hideAddresses(part, rules)).join("/");
}
