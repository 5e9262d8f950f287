import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiKeyLostError, rotateApiKey } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { errorOf } from "../support/error-of.js";
import { makeFolder } from "../support/folder.js";
import { openSandbox } from "../sandbox/support.js";

const SCRIPT = fileURLToPath(new URL("key-rotation.mjs", import.meta.url));
/** Longer than any test. */
const HELD_MS = 60_000;

/** The service on a port, and a key of it in a file, as an app has it. */
async function openApp() {
  const sandbox = openSandbox({ clock: "real" });
  const { url: baseUrl } = await sandbox.listen();
  const file = join(makeFolder(), "api-key");
  const old = sandbox.callers.key({ scopes: ["labels:read", "keys:write"] });
  await writeFile(file, old);
  const keyId = sandbox.apiKeys.find(old)?.caller.keyId ?? "";
  const clientOf = (apiKey: string) => createClient({ apiKey, baseUrl, maxRetries: 0 });
  const works = async (token: string): Promise<boolean> => {
    try {
      await clientOf(token).labels.list();
      return true;
    } catch (error) {
      expect(error).toMatchObject({ status: 401 });
      return false;
    }
  };
  /** How often the key was rotated. */
  const rotations = (): number =>
    sandbox.rows("keys").reduce((sum, row) => sum + ("rotationCount" in row ? Number(row.rotationCount) : 0), 0);
  const start = (step: string) => {
    const config = JSON.stringify({ file, baseUrl, step });
    const child = spawn(process.execPath, [SCRIPT, config], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  return { sandbox, file, old, keyId, clientOf, works, rotations, start, stored: () => readFile(file, "utf8") };
}

/** A key that can rotate the app's again. */
const KEEPER = { scopes: ["keys:manage", "keys:write", "labels:read"] };

describe("a process that rotates its API key and is killed", () => {
  test.each<[step: string, rotated: boolean, handedOver: boolean]>([
    ["before the call", false, false],
    ["in the call", true, false],
    ["before the hand-over", true, false],
    ["in the hand-over", true, false],
    ["after the hand-over", true, true],
    ["at the end", true, true],
  ])(
    "killed %s: one key works, and a lost one can be replaced as the error says",
    async (step, rotated, handedOver) => {
      const app = await openApp();
      const { sandbox, old, keyId, clientOf, works, stored } = app;
      if (step === "in the call") {
        // The service has rotated, and the answer does not come.
        sandbox.faults.api.add({ calls: "keys.rotateSelf", fault: { kind: "delay", delayMs: HELD_MS } });
      }
      const child = app.start(step);
      const ended = once(child, "exit");
      if (step === "in the call") {
        await expect.poll(() => app.rotations()).toBe(1);
        child.kill("SIGKILL");
      }
      expect(await ended).toEqual([null, "SIGKILL"]);
      sandbox.faults.clear();

      expect(app.rotations()).toBe(rotated ? 1 : 0);
      expect(await works(old)).toBe(!rotated);
      expect((await stored()) !== old).toBe(handedOver);
      if (rotated === handedOver) {
        expect(await works(await stored())).toBe(true);
        return;
      }
      // The new key works, and nobody has it.
      const handOver = (token: string) => writeFile(app.file, token);
      const error = await errorOf(async () => rotateApiKey({ client: clientOf(await stored()), handOver }));
      expect(error).toBeInstanceOf(ApiKeyLostError);
      expect(error.message).toContain("rotateApiKey({ client, keyId, handOver })");
      await rotateApiKey({ client: clientOf(sandbox.callers.key(KEEPER)), keyId, handOver });
      expect(await works(await stored())).toBe(true);
      expect(sandbox.apiKeys.find(await stored())?.caller.keyId).toBe(keyId);
    },
  );

  test("a process that is not killed hands the new key over", async () => {
    const app = await openApp();
    expect(await once(app.start("never"), "exit")).toEqual([0, null]);
    expect([await app.works(app.old), await app.works(await app.stored())]).toEqual([false, true]);
  });
});
