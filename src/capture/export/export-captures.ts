import type { Changes } from "../../base/options.js";
import { PigeonholeError } from "../../base/error.js";
import { quoteForShell } from "../../base/text.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import { buildReplayHeaders } from "../replay/build-replay.js";
import { answerHead, describeAnswer, withOutcomes } from "../model/answer.js";
import type { Capture, HeaderList, SignMode } from "../model/capture.js";
import { bodyText, decodeBody } from "../model/captured-body.js";
import { bodyBytes } from "../model/capture-request.js";
import type { ExportFormat } from "./export-formats.js";
import { isConnectionHeader } from "../send/outgoing-headers.js";
import { targetUrl } from "../send/target.js";

export interface ExportOptions {
  as: ExportFormat;
  /** Where `curl` posts to: port, host:port/path or URL. @default '3000', with the captured path */
  target?: string | undefined;
  /**
   * Signs `curl` with the present time, or keeps the captured signature. @default 'resign' if a secret is
   * given
   */
  mode?: SignMode | undefined;
  /** The whole secret. It signs and is never written to the output. */
  secret?: string | undefined;
  /** Time of signing in milliseconds since 1970. @default Date.now() */
  nowMs?: number | undefined;
  /** Overrides for points that the service's documentation leaves open. @default SIGNATURE_ASSUMPTIONS */
  assumptions?: Changes<SignatureAssumptions> | undefined;
}

/** A file to save or to print. */
export interface ExportedFile {
  name: string;
  mediaType: string;
  text: string;
}

/** Exports captures as one text. Throws `invalid_secret` if they should be signed and no secret was given. */
export function exportCaptures(captures: readonly Capture[], options: ExportOptions): ExportedFile {
  switch (options.as) {
    case "ndjson":
      return file(
        "captures.ndjson",
        "application/x-ndjson",
        lines(captures.map((capture) => JSON.stringify(withOutcomes(capture)))),
      );
    case "json":
      return file("captures.json", "application/json", `${JSON.stringify(captures.map(withOutcomes), undefined, 2)}\n`);
    case "curl":
      return file(
        "captures.sh",
        "text/x-shellscript",
        captures.map((c) => writeCurl(c, request(c, options))).join("\n"),
      );
  }
}

/** The request as a command sends it, without the headers that a client sets itself. */
function request(capture: Capture, options: ExportOptions): WrittenRequest {
  const { secret, mode = secret === undefined ? "exact" : "resign", target = "3000", nowMs = Date.now() } = options;
  if (mode === "resign" && secret === undefined) {
    throw new PigeonholeError("invalid_secret", "To write a signed command, the endpoint's secret is needed.");
  }
  const content = { mode, nowMs, secret, assumptions: options.assumptions };
  const headers = buildReplayHeaders(capture, bodyBytes(capture), content);
  return {
    url: targetUrl(target, capture.request),
    headers: headers.filter(([name]) => !isConnectionHeader(name) && !/^(?:host|content-length)$/i.test(name)),
  };
}

function file(name: string, mediaType: string, text: string): ExportedFile {
  return { name, mediaType, text };
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}

/** What a command sends: the URL, and the headers that the client does not set itself. */
interface WrittenRequest {
  url: string;
  headers: HeaderList;
}

/** A cURL command for a POSIX shell that sends exactly the captured bytes. */
function writeCurl(capture: Capture, { url, headers }: WrittenRequest): string {
  const { method, body } = capture.request;
  const text = bodyText(body);
  const head = remarksOn(capture);
  const parts = [
    `curl --globoff --request ${quoteForShell(method)} ${quoteForShell(url)}`,
    // cURL drops a header without a value unless it ends in a semicolon.
    ...headers.map(([name, value]) => `--header ${quoteForShell(value === "" ? `${name};` : `${name}: ${value}`)}`),
  ];
  // An argument cannot contain NUL, and the system refuses one that is too long.
  if (text !== undefined && !text.includes("\0") && text.length < MAX_ARGUMENT_LENGTH) {
    return `${head}${[...parts, `--data-raw ${quoteForShell(text)}`].join(" \\\n  ")}\n`;
  }
  const base64 = Buffer.from(decodeBody(body)).toString("base64");
  const wrapped = base64.replaceAll(/.{1,120}/g, "$&\n");
  return `${head}base64 --decode <<'BODY' | ${[...parts, "--data-binary @-"].join(" \\\n  ")}\n${wrapped}BODY\n`;
}

/** Linux refuses a single argument over 128 KiB. */
const MAX_ARGUMENT_LENGTH = 30_000;

/** Comments. Their text is of an app or a file, and must not end one. */
function remarksOn({ attempts, redaction }: Capture): string {
  const last = attempts.at(-1);
  const answer = last && `# Last answer: ${describeAnswer(answerHead(last)).replaceAll(/[^\w .-]/g, "?")}\n`;
  const profile = redaction?.replaceAll(/[^\w-]/g, "?").slice(0, 40);
  return `${answer ?? ""}${profile === undefined ? "" : `# Redacted: ${profile}\n`}`;
}
