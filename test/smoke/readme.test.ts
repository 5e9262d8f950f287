import { readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { makeExampleFolder } from "../docs/example-folder.js";
import { ENV, runNode, runProgram, startListening } from "../docs/run-example.js";
import { findFreePort } from "../support/free-port.js";
import { BIN, startCli } from "../support/start-cli.js";

const ROOT = resolve(import.meta.dirname, "../..");

/**
 * Leaves what is different in every run aside: times, the token of the page, the captures' names, blanks of alignment.
 */
function normalize(text: string): string[] {
  const captures: string[] = [];
  const numberOf = (name: string): string => {
    if (!captures.includes(name)) captures.push(name);
    return `capture-${captures.indexOf(name)}`;
  };
  return text
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .replace(/^\d\d:\d\d:\d\d/, "00:00:00")
        .replaceAll(/\b\d+ ?ms\b/g, "1ms")
        .replace(/\?t=[\w-]+/, "?t=token")
        .replaceAll(/ +/g, " ")
        .replace(/(?<= 1ms )[0-9a-z]{6}(?= )/, numberOf)
        .trimEnd(),
    );
}

test("the two terminals of the first screen show what the commands print", async () => {
  const folder = makeExampleFolder();
  const [shownByDev = "", shownElsewhere = ""] = [
    ...readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/^```console\n([\s\S]*?)^```$/gm),
  ].map(([, block = ""]) => block);
  const { port } = await startListening(folder, "examples/express-minimal");
  const [devPort, pagePort] = [await findFreePort(), await findFreePort()];
  const inReadme = (text: string) =>
    text
      .replaceAll(realpathSync(folder), "/home/ada/mail")
      .replaceAll(String(port), "3000")
      .replaceAll(String(devPort), "4400")
      .replaceAll(String(pagePort), "4401");

  const [devLine = "", ...devOutput] = shownByDev.split("\n");
  const words = devLine.replace("$ npx pigeonhole ", "").replace("3000", String(port)).split(" ");
  const dev = runNode(folder, [BIN, ...words, "--port", String(devPort), "--page-port", String(pagePort)]);
  await expect.poll(dev.output).toContain("Ready.");

  const said: string[] = [];
  const commands = [...shownElsewhere.matchAll(/^\$ npx pigeonhole (.*)$/gm)].map(([, line = ""]) => line);
  expect(commands.length).toBeGreaterThan(2);
  for (const line of commands) {
    const to = line.startsWith("trigger") ? ["--to", `http://127.0.0.1:${devPort}/webhooks/mail`] : [];
    const { stdout } = await startCli([...line.split(" "), ...to], { cwd: folder, env: ENV }).ended;
    said.push(`$ npx pigeonhole ${line}\n${stdout.trimEnd()}`);
  }
  expect(normalize(said.join("\n"))).toEqual(normalize(shownElsewhere));

  const expected = normalize(devOutput.join("\n"));
  await expect.poll(() => normalize(inReadme(dev.output()))).toEqual(expected);
  await dev.stop("SIGINT");
});

test("npm start plays the whole loop, and says how its inbox is read", async () => {
  const demo = runProgram(makeExampleFolder(), "examples/start", { PORT: "0" });
  await expect.poll(demo.output, { timeout: 40_000 }).toContain("pigeonhole inbox list");
});
