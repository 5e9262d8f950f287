import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSandbox, fire } from "./support.js";
import { makeFolder } from "../support/folder.js";
import { asProgram, runToEnd } from "../support/start-program.js";
import { isInstalled } from "../support/tools.js";

const testWithOpenssl = test.skipIf(!isInstalled("openssl"));

/** An https receiver on a free port, with a certificate that nobody vouches for, made by openssl. */
async function openHttps(): Promise<{ url: string; certificate: string }> {
  const folder = makeFolder();
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const names = "-subj /CN=localhost -addext subjectAltName=DNS:localhost";
  const request = `req -x509 -newkey rsa:2048 -nodes ${names} -keyout`.split(" ");
  await runToEnd({ command: "openssl", args: [...request, key, "-out", certificate] });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (req, res) => {
    req.resume();
    res.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, "localhost", resolve));
  onTestFinished(() => void server.close());
  return { url: `https://localhost:${(server.address() as AddressInfo).port}/hook`, certificate };
}

testWithOpenssl("a delivery over https needs a trusted certificate, and is tried again", async () => {
  const { url } = await openHttps();
  const sandbox = openSandbox();
  sandbox.endpoints.create({ url });
  await fire(sandbox);
  const failed = { status: "failed", responseCode: null, error: "no connection: DEPTH_ZERO_SELF_SIGNED_CERT" };
  expect(sandbox.deliveries()).toMatchObject([failed]);
  expect(sandbox.plannedAttempts[0]?.dueAtMs).toBeGreaterThan(sandbox.clock.now());
});

testWithOpenssl("a delivery over https arrives if Node trusts the certificate", async () => {
  const { url, certificate } = await openHttps();
  const program = `
    import { createSandbox } from "pigeonhole/sandbox";
    const sandbox = createSandbox({ clock: "manual" });
    sandbox.endpoints.create({ url: ${JSON.stringify(url)} });
    sandbox.emit("email.sent");
    await sandbox.settle();
    console.log(String(sandbox.deliveries()[0].responseCode));
    await sandbox.close();`;
  const { stdout } = await runToEnd({ ...asProgram(program), env: { NODE_EXTRA_CA_CERTS: certificate } });
  expect(stdout.trim()).toBe("200");
});
