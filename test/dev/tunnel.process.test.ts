import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, describe, onTestFinished, test, vi } from "vitest";
import { findTunnelProgram } from "#pigeonhole/dev/tunnel/tunnel-programs.js";
import { listen } from "#pigeonhole/dev/listen.js";
import { findFreePort } from "../support/free-port.js";
import { startDev } from "./dev-harness.js";
import { makeFolder } from "../support/folder.js";

/** A program named `name` that behaves like a tunnel; its runs are noted in `log`. */
function writeProgram(folder: string, name: string, script: string): { path: string; runs(): string[][] } {
  const path = join(folder, name);
  const log = join(folder, `${name}.log`);
  writeFileSync(
    path,
    `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync } = require("node:fs");
appendFileSync(${JSON.stringify(log)}, JSON.stringify([String(process.pid), ...process.argv.slice(2)]) + "\\n");
const runs = readFileSync(${JSON.stringify(log)}, "utf8").trim().split("\\n").length;
const stay = () => setInterval(() => undefined, 1000);
${script}
`,
    { mode: 0o755 },
  );
  const lines = (): string[] => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
  return { path, runs: () => lines().map((line) => JSON.parse(line) as string[]) };
}

function isAlive(pid: string | undefined): boolean {
  try {
    process.kill(Number(pid), 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  // Ended, and not yet waited for by the process that took it over.
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, "utf8"));
}

describe("a tunnel command", () => {
  test("a tunnel command runs with the capture port, its URL is read, and it ends with the dev server", async () => {
    const folder = makeFolder();
    const program = writeProgram(
      folder,
      "tun nel",
      'process.stderr.write("starting\\nyour url is: https://abc.example.com/\\n"); stay();',
    );
    const { dev, events } = await startDev({ tunnel: `"${program.path}" --port {port} --name 'a b'` });
    expect(dev.publicUrl).toBe("https://abc.example.com/webhooks/mail");
    const [[pid, ...args] = []] = program.runs();
    expect(args).toEqual(["--port", new URL(dev.captureUrl).port, "--name", "a b"]);
    expect(events.map(({ kind }) => kind)).toEqual(["tunnel", "tunnel", "ready"]);
    expect(events.at(-1)).toMatchObject({ publicUrl: "https://abc.example.com/webhooks/mail" });
    expect(isAlive(pid)).toBe(true);
    await dev.close();
    expect(isAlive(pid)).toBe(false);
  });

  test("a tunnel command ends with the processes that it has started", async () => {
    const folder = makeFolder();
    const inner = writeProgram(folder, "inner", 'console.log("https://abc.example.com"); stay();');
    const outer = writeProgram(
      folder,
      "outer",
      `require("node:child_process").spawn(${JSON.stringify(inner.path)}, [], { stdio: "inherit" }); stay();`,
    );
    const { dev } = await startDev({ tunnel: `"${outer.path}" {port}` });
    const pids = [inner.runs()[0]?.[0], outer.runs()[0]?.[0]];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await dev.close();
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
  });

  test("a tunnel command that does not end when asked is killed", async () => {
    const program = writeProgram(
      makeFolder(),
      "stubborn",
      'process.on("SIGTERM", () => undefined); console.log("https://abc.example.com"); stay();',
    );
    const { dev } = await startDev({ tunnel: `"${program.path}" {port}` });
    await dev.close();
    expect(isAlive(program.runs()[0]?.[0])).toBe(false);
  });

  test("a tunnel command that dies is started again, and its new URL is used", async () => {
    const program = writeProgram(makeFolder(), "mortal", 'console.log("https://run" + runs + ".example.com"); stay();');
    const { dev, events } = await startDev({ tunnel: `"${program.path}" {port}` });
    expect(dev.publicUrl).toBe("https://run1.example.com/webhooks/mail");
    process.kill(Number(program.runs()[0]?.[0]), "SIGKILL");
    await expect.poll(() => dev.publicUrl).toBe("https://run2.example.com/webhooks/mail");
    const states = events.flatMap((event) => (event.kind === "tunnel" ? [event.state] : []));
    expect(states).toEqual(["starting", "up", "down", "starting", "up"]);
  });

  test("a tunnel command that shows no URL in time stops the start, with its last output as escaped text", async () => {
    const program = writeProgram(makeFolder(), "mute", 'console.log("login \\u001b[31mfirst"); stay();');
    const started = startDev({ tunnel: `"${program.path}" {port}`, tunnelTimeoutMs: 2_000 });
    const message = expect.stringContaining("login \\u001b[31mfirst") as string;
    await expect(started).rejects.toMatchObject({ code: "tunnel_failed", message });
    expect(isAlive(program.runs()[0]?.[0])).toBe(false);
  });

  test("a tunnel command that ends at once stops the start, with its exit code", async () => {
    const program = writeProgram(makeFolder(), "broken", 'console.error("no account"); process.exitCode = 3;');
    const started = startDev({ tunnel: `"${program.path}" {port}` });
    await expect(started).rejects.toThrow(/ended with code 3 .*\n {2}no account/);
  });

  test("a tunnel command that is not installed stops the start, frees the ports and says so", async () => {
    const port = await findFreePort();
    const started = startDev({ port, tunnel: "no-such-tunnel-program {port}" });
    await expect(started).rejects.toThrow(/not installed.*"no-such-tunnel-program"/);
    const again = await listen(() => undefined, { port, host: "127.0.0.1", option: "port" });
    await again.close(0);
  });

  test("a tunnel command that is still starting is ended if the start is aborted", async () => {
    const program = writeProgram(makeFolder(), "slow", "stay();");
    const stop = new AbortController();
    const started = startDev({ tunnel: `"${program.path}" {port}`, signal: stop.signal });
    await expect.poll(() => program.runs().length).toBe(1);
    stop.abort(new Error("Ctrl-C"));
    await expect(started).rejects.toThrow("Ctrl-C");
    expect(isAlive(program.runs()[0]?.[0])).toBe(false);
  });

  test("a tunnel command without a place for the port is refused", async () => {
    await expect(startDev({ tunnel: "localtunnel" })).rejects.toThrow(/\{port\}/);
  });
});

describe("known tunnel programs", () => {
  test.each([
    [
      "cloudflared",
      ["tunnel", "--no-autoupdate", "--url", "http://127.0.0.1:PORT"],
      "2026-01-01T00:00:00Z INF Requesting new quick Tunnel on trycloudflare.com...\\n2026-01-01T00:00:00Z ERR https://api.trycloudflare.com/tunnel\\n2026-01-01T00:00:01Z INF |  https://seven-blue-words.trycloudflare.com   |",
      "https://seven-blue-words.trycloudflare.com/webhooks/mail",
    ],
    [
      "ngrok",
      ["http", "127.0.0.1:PORT", "--log", "stdout", "--log-format", "logfmt"],
      't=2026 lvl=info msg="update at https://ngrok.com" obj=x\\nt=2026 lvl=info msg="started tunnel" obj=tunnels name=command_line addr=http://127.0.0.1:4400 url=https://ab12.ngrok-free.app',
      "https://ab12.ngrok-free.app/webhooks/mail",
    ],
    [
      "tailscale",
      ["funnel", "PORT"],
      "Available on the internet:\\n\\nhttps://laptop.tail1234.ts.net/\\n|-- proxy http://127.0.0.1:4400",
      "https://laptop.tail1234.ts.net/webhooks/mail",
    ],
  ])(
    "the tunnel program %s is run as its documentation says, and its URL is found",
    async (name, args, output, publicUrl) => {
      const folder = makeFolder();
      const program = writeProgram(
        folder,
        name,
        `console.error(${JSON.stringify(output).replaceAll("\\\\n", "\\n")}); stay();`,
      );
      vi.stubEnv("PATH", folder);
      onTestFinished(() => void vi.unstubAllEnvs());
      const { dev } = await startDev({ tunnel: name });
      const { port } = new URL(dev.captureUrl);
      expect(program.runs()[0]?.slice(1)).toEqual(args.map((arg) => arg.replace("PORT", port)));
      expect(dev.publicUrl).toBe(publicUrl);
    },
  );

  test.each(["cloudflared", "ngrok", "tailscale"])("the tunnel program %s has a hint on how to install it", (name) => {
    expect(findTunnelProgram(name, 4400).install).toMatch(/https:\/\//);
  });
});
