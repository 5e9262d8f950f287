import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifySignature } from "pigeonhole/protocol";
import { TEST_SECRET } from "pigeonhole/testing";
import { bodyBytes } from "#pigeonhole/capture/model/capture-request.js";
import type { HeaderList } from "#pigeonhole/capture/model/capture.js";
import { exportCaptures } from "#pigeonhole/capture/export/export-captures.js";
import { createRedactor } from "#pigeonhole/capture/redact/redactor.js";
import { EXPORT_FORMATS } from "#pigeonhole/capture/export/export-formats.js";
import { readExport } from "#pigeonhole/capture/folder/read-export.js";
import { makeAttempt, makeCapture, NOW, serveAnswers } from "../support/captures.js";
import { errorOf } from "../support/error-of.js";
import { makeFolder } from "../support/folder.js";
import { runToEnd } from "../support/start-program.js";

const awkward = makeCapture({ body: `{"text":"it's \\"here\\" $HOME \`x\` \\\\ 🕊\r\n"}\n`, at: NOW + 5 });
const binary = makeCapture({ body: Buffer.from([0, 0xff, 0x27, 0x0a]), at: NOW + 6 });
const captures = [{ ...makeCapture(), tags: ["vip"], note: "kept" }, awkward, binary];

describe("export and import", () => {
  test.each(["ndjson", "json"] as const)("captures that are exported as %s are imported unchanged", (as) => {
    expect(readExport(exportCaptures(captures, { as }).text)).toEqual(captures);
  });
});

describe("an export of an attempt that was parked", () => {
  const headers: HeaderList = [["X-Pigeonhole-Outcome", "parked"]];
  const capture = { ...makeCapture(), attempts: [makeAttempt({ headers })] };

  test.each([
    ["ndjson", '"outcome":"parked"'],
    ["json", '"outcome": "parked"'],
    ["curl", "# Last answer: 200 parked\ncurl "],
  ] as const)("an export as %s has the outcome beside the status", (as, words) => {
    expect(exportCaptures([capture], { as, secret: TEST_SECRET }).text).toContain(words);
  });

  test("an export with outcomes is imported unchanged", () => {
    for (const as of ["ndjson", "json"] as const) {
      expect(readExport(exportCaptures([capture], { as }).text)).toEqual([capture]);
    }
  });
});

describe("an export of redacted captures", () => {
  const redact = createRedactor({ profile: "strict" });

  test.each(EXPORT_FORMATS)("an export as %s says by which profile it was redacted", (as) => {
    const { text } = exportCaptures([redact(makeCapture())], { as });
    expect(text).toMatch(as === "json" || as === "ndjson" ? /"redaction": ?"strict"/ : /Redacted: strict/);
    expect(exportCaptures([makeCapture()], { as }).text).not.toContain("Redacted:");
  });

  test("a profile of an imported file cannot end the comment that names it", () => {
    const hostile = { ...makeCapture(), redaction: "none\nDELETE /" };
    expect(exportCaptures([hostile], { as: "curl" }).text).toContain("Redacted: none?DELETE??\n");
  });
});

describe("an import", () => {
  test.each([
    [`${JSON.stringify(captures[0])}\n{"private":1}`, /^Line 2: .*v is missing/],
    [`${JSON.stringify(captures[0])}\nprivate\n`, /^Line 2 is not valid JSON/],
  ])("an import names the line that it cannot read, and does not quote it", async (text, message) => {
    const error = await errorOf(() => readExport(text));
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("private");
  });

  test.each(["", "hello", "a\nb"])("an import refuses the text %j", async (text) => {
    expect((await errorOf(() => readExport(text))).code).toBe("invalid_capture");
  });
});

describe("a curl command", () => {
  const post = async (target: string, capture: typeof awkward, mode?: "exact") => {
    const { text } = exportCaptures([capture], { as: "curl", target, secret: TEST_SECRET, ...(mode && { mode }) });
    expect(text).not.toContain(TEST_SECRET);
    const file = join(makeFolder(), "post.sh");
    writeFileSync(file, text);
    await runToEnd({ command: "sh", args: [file] });
  };

  test.each([
    ["awkward text", awkward],
    ["binary", binary],
    ["a large body", makeCapture({ body: "x".repeat(200_000) })],
  ])("an exported curl command posts %s byte for byte under a new signature", async (_, capture) => {
    const { url, received } = await serveAnswers();
    await post(url, capture);
    const [request] = received;
    expect(request?.body).toEqual(Buffer.from(bodyBytes(capture)));
    expect(
      verifySignature({ body: request?.body ?? "", headers: request?.headers ?? {}, secrets: TEST_SECRET }).ok,
    ).toBe(true);
    expect(request?.rawHeaders).toEqual(expect.arrayContaining(["X-Dup", "x-dup"]));
  });

  test("an exported curl command keeps the captured signature if exact is set", async () => {
    const { url, received } = await serveAnswers();
    await post(url, awkward, "exact");
    const captured = awkward.request.headers.find(([name]) => name === "x-svc-signature")?.[1];
    expect(received[0]?.headers["x-svc-signature"]).toBe(captured);
  });

  test("a header, path or body cannot inject anything into an exported curl command", async () => {
    const folder = makeFolder();
    const evil = `'; touch ${folder}/owned; echo '`;
    const { url } = await serveAnswers();
    const capture = makeCapture({
      body: evil,
      headers: [
        ["X-Evil", evil],
        ["X-Empty", ""],
      ],
      path: `/${evil}`,
    });
    await post(url, capture);
    expect(existsSync(join(folder, "owned"))).toBe(false);
  });

  test("an exported curl command needs a secret for its signature", async () => {
    expect((await errorOf(() => exportCaptures(captures, { as: "curl", mode: "resign" }))).code).toBe("invalid_secret");
  });
});

test("an outcome of a last answer cannot end the comment that names it", () => {
  const headers: HeaderList = [["x-pigeonhole-outcome", "a\ncurl http://127.0.0.1:9/"]];
  const { text } = exportCaptures([{ ...makeCapture(), attempts: [makeAttempt({ headers })] }], { as: "curl" });
  expect(text).toMatch(/^# Last answer: 200 a\?curl .*\ncurl --globoff /);
});

test("no export format contains the secret", () => {
  for (const as of EXPORT_FORMATS)
    expect(exportCaptures(captures, { as, secret: TEST_SECRET }).text).not.toContain(TEST_SECRET);
});
