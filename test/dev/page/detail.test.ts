import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { sampleEvent, signDelivery } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { parseCapture } from "#pigeonhole/capture/model/parse-capture.js";
import { TRIGGER_AGENT } from "#pigeonhole/dev/capture-port/sender-address.js";
import { seeText } from "./browser.js";
import { type Delivery, describeBench } from "./workbench.js";
import { listen } from "../../support/listen.js";

/** An app beside the one that deliveries are forwarded to. */
async function startOtherApp(status = 204) {
  const paths: string[] = [];
  const server = createServer((req, res) => {
    paths.push(req.url ?? "");
    req.resume().on("end", () => res.writeHead(status).end());
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return { paths, port };
}

describeBench("an open delivery", {}, ({ bench, page, rows, problems }) => {
  const tab = (name: string) => page.getByRole("tab", { name });
  const panelText = () => page.getByRole("tabpanel").innerText();
  const line = () => page.locator(".detail-head .remark");
  const attempts = () => page.getByRole("table", { name: "Attempts" }).getByRole("row");
  const openEditor = async () => {
    await page.getByRole("button", { name: "Edit & replay" }).click();
    return page.getByRole("textbox", { name: "Body" });
  };
  const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");

  async function openFirst(): Promise<void> {
    await rows.first().click();
    await page.getByRole("heading", { level: 2 }).waitFor();
  }

  async function openDelivery(delivery?: Delivery): Promise<void> {
    await bench.deliver(delivery);
    await openFirst();
  }

  test("an open delivery shows the service's attempts at its event: past ones solid, coming ones hollow", async () => {
    const body = JSON.stringify(sampleEvent("email.sent"));
    bench.answerWith({ status: 503, body: "{}", headers: { "retry-after": "1200" } });
    await bench.deliver({ body });
    await openDelivery({ body });
    await tab("Attempts").click();
    const attempts = page.getByRole("region", { name: "Attempts of the service" }).getByRole("listitem");
    await expect.poll(() => attempts.count()).toBe(8);
    const waits = page.locator(".retry-wait");
    // The third attempt waits for Retry-After.
    await expect
      .poll(() => waits.allInnerTexts())
      .toEqual(["", expect.stringMatching(/^\+ \d s$/), "+ 20 min", "+ 30 min", "+ 2 h", "+ 5 h", "+ 10 h", "+ 10 h"]);
    const areHollow = await page.evaluate<boolean[]>(`[...document.querySelectorAll(".retry-dot")].map((dot) => {
      const { backgroundColor, color } = getComputedStyle(dot);
      return backgroundColor !== color;
    })`);
    expect(areHollow).toEqual([false, false, true, true, true, true, true, true]);
    await attempts.first().getByRole("button").click();
    await expect.poll(() => page.url()).toContain(`open=${bench.dev.captures.list()[1]?.id}`);
    // A delivery that succeeds ends the line while it is looked at.
    bench.answerWith(null);
    await bench.deliver({ body });
    await expect.poll(() => attempts.count()).toBe(3);
    await expect.poll(() => attempts.last().innerText()).toContain("200 accepted");
  });

  test("an open delivery that was sent by hand promises no attempts of the service", async () => {
    bench.answerWith({ status: 503, body: "{}" });
    await openDelivery({ headers: { "user-agent": TRIGGER_AGENT } });
    await tab("Attempts").click();
    const line = page.getByRole("region", { name: "Attempts of the service" });
    await seeText(
      line.locator("p"),
      "1 attempt of the service so far. Nothing sends it again, since it was sent by hand or imported. The service would, up to 7 more times.",
    );
    expect(await line.getByRole("listitem").count()).toBe(1);
  });

  test("an open delivery shows the short name of the capture, which the list and the terminal also show", async () => {
    await bench.deliver();
    const handle = bench.dev.captures.list()[0]?.id.slice(-6) ?? "";
    await rows.first().waitFor();
    await expect.poll(() => rows.first().locator(".id-column").textContent()).toBe(handle);
    await openFirst();
    await page.getByRole("button", { name: handle }).click();
    await expect.poll(clipboard).toBe(handle);
  });

  test("an open delivery shows its payload as a tree that folds and is searched, with paths and values to copy", async () => {
    await openDelivery({ data: { contact: { email: "ada@customer.example.com" } } });
    const tree = page.getByRole("tree", { name: "Payload" });
    const email = tree.getByRole("treeitem").filter({ hasText: /^\s*email:/ });
    await email.hover();
    await email.getByRole("button", { name: "path" }).click();
    await expect.poll(clipboard).toBe("data.contact.email");
    await email.getByRole("button", { name: "value" }).click();
    await expect.poll(clipboard).toBe("ada@customer.example.com");
    await email.getByRole("button", { name: "find" }).click();
    const search = page.getByRole("combobox", { name: "Search deliveries" });
    await expect.poll(() => search.inputValue()).toBe("data.contact.email:ada@customer.example.com");
    const contact = tree.getByRole("treeitem").filter({ hasText: /^\s*contact:/ });
    await contact.getByRole("button", { name: "Fold" }).click();
    await expect.poll(() => email.count()).toBe(0);
    await expect.poll(() => contact.getAttribute("aria-expanded")).toBe("false");
  });

  test("an email event is read as a mail, whose HTML is only its words, and loads nothing", async () => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const html =
      '<style>p{}</style><p style="color: red">Hello <b>Ada</b></p><img src="http://127.0.0.1:9/pixel.png"><p>Bye</p>';
    const from = { name: "Ada Example", email: "ada@customer.example.com" };
    await openDelivery({
      data: { from, to: ["a@acme.example", "b@acme.example"], subject: "Hi <b>", text: undefined, html },
    });
    const mail = page.locator(".mail");
    await expect
      .poll(async () => (await mail.innerText()).replaceAll(/\s+/g, " "))
      .toMatch(
        /Hi <b> From Ada Example · ada@customer.example.com To a@acme.example, b@acme.example Date .* Hello Ada Bye$/,
      );
    expect(await mail.locator("img, b").count()).toBe(0);
    expect(asked.filter((url) => url.includes("pixel"))).toEqual([]);
  });

  test("an open delivery shows where a body that is not JSON stops being JSON", async () => {
    await openDelivery({ body: '{"id":"evt_1","data":{"a":1,}}' });
    await tab("Payload").click();
    await page.getByText("Not JSON: line 1, column 29").waitFor();
    await seeText(page.locator("mark"), "}");
  });

  test("an open delivery is edited with numbers and repeated names as they were written", async () => {
    const body = '{"big":12345678901234567890,"a":1.0,"a":2}';
    await openDelivery({ body });
    const editor = await openEditor();
    await seeText(editor, body);
  });

  test("an open delivery shows headers in their order, the raw bytes, and the app's answer", async () => {
    bench.answerWith({ status: 422, body: '{"error":"no such customer"}', headers: { "x-trace": "t-1" } });
    await openDelivery({ body: '{"id":"evt_1","note":"grüße"}', headers: { "X-First": "1", "X-Second": "2" } });
    await tab("Headers").click();
    const names = page.getByRole("table", { name: "Request headers" }).locator(".json-name");
    const sent = bench.dev.captures.list()[0]?.request.headers.map(([name]) => name);
    await expect.poll(() => names.allInnerTexts()).toEqual(sent);

    await tab("Raw").click();
    await page.getByText('{"id":"evt_1","note":"grüße"}').waitFor();
    await page.getByRole("button", { name: "Hex" }).click();
    await page.getByText("c3 bc c3 9f").waitFor();

    await tab("Answer").click();
    await page.getByText("no such customer").waitFor();
    await page.getByRole("table", { name: "Answer headers" }).getByText("t-1").waitFor();
  });

  test("an open delivery opens on what is wrong, says it in one line, and offers the remedy", async () => {
    await openDelivery({ variant: "wrong-secret" });
    await seeText(line(), /^The signature was not made with/);
    expect(await tab("Signature").getAttribute("aria-selected")).toBe("true");
    await line().getByRole("button", { name: "Try another secret" }).click();
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Secret to try");
    await line().getByRole("button", { name: "Replay, re-signed" }).click();
    await seeText(line(), /^The signature did not verify as it came\. The replay was signed/);
    await seeText(rows.locator(".verdict"), "re-signed");
  });

  test("an open delivery shows its signed string with the separator, and tries another secret without keeping it", async () => {
    const secret = `whsec_${"Zz9-".repeat(10)}`;
    const body = JSON.stringify({ id: "evt_1", type: "email.sent", createdAt: "2026-01-01T09:00:00.000Z", data: {} });
    const headers = signDelivery({ body, secret });
    await openDelivery({ body, variant: "missing", headers: { ...headers } });
    await tab("Signature").click();
    const signed = page.getByRole("region", { name: "Signed string" }).locator("pre");
    await seeText(signed, /^\d{10}\.\{"id":"evt_1",/);
    await seeText(signed.locator(".signed-dot"), ".");
    const form = page.getByRole("form", { name: "Try another secret" });
    await form.getByLabel("Secret to try").fill("whsec_wrong");
    await form.getByRole("button", { name: "Check" }).click();
    await expect.poll(() => form.getByRole("status").innerText()).toContain("Not accepted");
    await form.getByLabel("Secret to try").fill(secret);
    await form.getByRole("button", { name: "Check" }).click();
    await expect.poll(() => form.getByRole("status").innerText()).toContain("This secret made the signature");
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain("Zz9-");
    expect(JSON.stringify(bench.dev.captures.list())).not.toContain("Zz9-");
  });

  test("an open delivery is replayed in each way, and a duplicate says so and is run again under a new id", async () => {
    await openDelivery();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page
      .getByText(/^Replayed: 200 duplicate · another answer than before · Not run: the receiver has this id$/)
      .waitFor();
    await expect.poll(() => page.locator(".notice.warn").count()).toBe(1);
    await expect.poll(() => attempts().count()).toBe(3);
    await seeText(attempts().nth(1), /replay, signed again[\s\S]*200 duplicate/);
    expect(await attempts().nth(1).getAttribute("aria-current")).toBe("true");

    const choose = async (name: RegExp) => {
      await page.getByRole("button", { name: "Other ways to replay" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await choose(/Exactly as captured/);
    await expect.poll(() => attempts().nth(1).innerText()).toContain("replay, exact");
    await choose(/Twice/);
    await expect.poll(() => attempts().count()).toBe(6);
    const remark = page.locator(".answer-view .remark");
    await expect.poll(() => remark.innerText()).toContain("Not run: the receiver has this id.");
    await expect.poll(() => remark.getByRole("button", { name: "Retry" }).count()).toBe(0);
    await remark.getByRole("button", { name: "Run again under a new id" }).click();
    await page.getByText(/Replayed: 200 accepted/).waitFor();
    await seeText(attempts().nth(1), /new id[\s\S]*200 accepted/);
    // One event of the delivery and one of the replay with a new id.
    expect((await bench.inbox.list({})).items).toHaveLength(2);
  });

  test("an open delivery whose work is dead is retried where its replay says that nothing ran", async () => {
    await bench.deliver({ type: "email.bounced" });
    const id = bench.dev.captures.list()[0]?.event.id ?? "";
    await expect.poll(async () => (await bench.inbox.get(id))?.state).toBe("dead");
    await openFirst();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.locator(".answer-view .remark").getByText("Not run: the receiver has this id.").waitFor();
    await seeText(line(), /crm is dead: .*no customer for this address/);
    await line().getByRole("button", { name: "Retry" }).click();
    await page.getByText("Retry requested").first().waitFor();
    await seeText(line(), /crm is dead: .*no customer for this address/);
  });

  test("an open delivery that was parked warns in list, head, answer and handlers, says why, and is read again", async () => {
    await bench.deliver({ body: "not JSON" });
    await seeText(rows.first().locator(".status.warn"), "200 parked");
    await page.getByRole("button", { name: "parked 1", exact: true }).click();
    await openFirst();
    await seeText(page.locator(".detail-head .status.warn"), "200 parked");
    await tab("Answer").click();
    await page.locator(".answer-view .remark").getByText("Parked: not understood, so no handler ran.").waitFor();
    // There is no id to change.
    expect(await page.getByRole("button", { name: "Run again under a new id" }).count()).toBe(0);
    await tab("Handlers").click();
    await expect.poll(panelText).toMatch(/parked\s+not understood\s+not_json\s+The body is not valid JSON/);
    await seeText(line(), /not_json/);
    await line().getByRole("button", { name: "Read it again" }).click();
    await page.getByText("Retry requested").first().waitFor();
    await seeText(rows.first().locator(".work"), /^parked/);
  });

  test.each([
    [404, "text/plain", "404", /no POST route at \/webhooks\/mail/],
    [401, "text/plain", "401", /A login, key or CSRF check of the app refused it/],
    [200, "text/html", "200 HTML", /An HTML page is no answer of a receiver/],
  ])("an open delivery answered %i with %s is no success anywhere, and says why", async (status, type, word, why) => {
    bench.answerWith({ status, body: "<p>Something else", headers: { "content-type": type } });
    // A single one has no chart.
    for (const type of ["email.queued", "email.sent"] as const) await bench.deliver({ type });
    const legend = page.getByRole("region", { name: "Deliveries over time" }).locator(".legend");
    await expect.poll(async () => (await legend.allTextContents()).map((text) => text.trim())).toEqual(["failed 2"]);
    await expect.poll(() => rows.locator(".status.warn").allInnerTexts()).toEqual([word, word]);
    await openFirst();
    await seeText(page.locator(".detail-head .status.warn"), word);
    await tab("Answer").click();
    await page.locator(".answer-view .status.warn").waitFor();
    await page.locator(".remark.warn").getByText(why).waitFor();
    await tab("Handlers").click();
    const untaken = new RegExp(`last answer: ${status}.* It has not taken the event, so no handler`);
    await expect.poll(panelText).toMatch(untaken);
    await page.keyboard.press("r");
    const notice = page.locator(".notice:not(.good)");
    await notice.getByText(new RegExp(`^Replayed: ${status}`)).waitFor();
    await expect.poll(() => page.getByRole("table", { name: "Attempts" }).locator(".status.warn").count()).toBe(2);
  });

  test("an open delivery that is edited gets a new id, unless that is turned off", async () => {
    await openDelivery();
    const editor = await openEditor();
    const newId = page.getByRole("checkbox", { name: /^New event id/ });
    await expect.poll(() => newId.isChecked()).toBe(false);
    await editor.waitFor();
    await editor.press("Control+Home");
    await page.keyboard.insertText(" ");
    await expect.poll(() => newId.isChecked()).toBe(true);
    const answer = page.getByRole("region", { name: "Answer", exact: true });
    await page.keyboard.press("Control+Enter");
    await answer.getByText(/^200/).waitFor();
    await newId.uncheck();
    await page.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).click();
    await answer.getByText("200 duplicate").waitFor();
    await answer.getByText("Not run: the receiver has this id.").waitFor();
  });

  test("an open delivery is replayed to another URL, which is offered again", async () => {
    const other = await startOtherApp();
    await openDelivery();
    await page.keyboard.press("R");
    const target = page.getByRole("combobox", { name: "Target" });
    await target.fill(`${other.port}/elsewhere`);
    await target.press("Enter");
    await page.getByText(/Replayed: 204/).waitFor();
    expect(other.paths).toEqual(["/elsewhere"]);
    await expect.poll(() => attempts().nth(1).innerText()).toContain(`127.0.0.1:${other.port}/elsewhere`);
    await page.getByRole("button", { name: "Other ways to replay" }).click();
    await page.getByRole("menuitem", { name: /To another URL/ }).click();
    await expect.poll(() => target.inputValue()).toBe(`${other.port}/elsewhere`);
    await target.fill("http://198.51.100.7/");
    await target.press("Enter");
    await page.getByText(/--allow-remote permits that/).waitFor();
    expect(other.paths).toHaveLength(1);
  });

  test("an open delivery takes tags and a note, which its file stores and the search finds", async () => {
    await openDelivery();
    await page.keyboard.press("t");
    const dialog = page.getByRole("dialog", { name: "Tags and note" });
    await dialog.getByRole("textbox", { name: "Tags" }).fill("vip, refund,vip");
    await dialog.getByRole("textbox", { name: "Note" }).fill("The customer wrote twice");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Tags and note saved").waitFor();
    await page.locator(".facts").getByText("The customer wrote twice").waitFor();
    expect(bench.dev.captures.list()[0]).toMatchObject({ tags: ["vip", "refund"], note: "The customer wrote twice" });
    await page.getByRole("button", { name: "Tags and note" }).click();
    await expect.poll(() => dialog.getByRole("textbox", { name: "Tags" }).inputValue()).toBe("vip, refund");
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.insertText("tag:refund has:note ");
    await expect.poll(() => rows.count()).toBe(1);
  });

  test("an open delivery is edited, sent signed again beside its answer, saved as a fixture, and kept as a draft", async () => {
    await openDelivery({ data: { subject: "Before" } });
    const editor = await openEditor();
    await expect.poll(() => editor.innerText()).toContain('"subject": "Before"');

    await editor.press("Control+a");
    const edited =
      '{"id":"evt_edited","type":"email.sent","createdAt":"2026-01-01T09:00:00.000Z","data":{"subject":"Grüße"}';
    await page.keyboard.insertText(`${edited},}`);
    await page.getByText(`Line 1, column ${edited.length + 2}`).waitFor();
    // Faster than the page draws: what was typed must not come back.
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    await page.keyboard.insertText("}");
    await page.getByText("Bytes changed: signed again").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Answer", exact: true }).getByText(/^200/).waitFor();
    expect((await bench.inbox.get("evt_edited"))?.type).toBe("email.sent");
    const downloaded = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as fixture" }).click();
    const file = await downloaded;
    expect(file.suggestedFilename()).toBe("email.sent.json");
    const fixture = { event: { id: "evt_edited" }, verify: { code: "ok" }, request: { body: { data: `${edited}}` } } };
    expect(parseCapture(JSON.parse(readFileSync(await file.path(), "utf8")))).toMatchObject(fixture);

    const drawer = page.getByRole("dialog", { name: "Edit and replay" });
    await drawer.getByRole("button", { name: "Close" }).click();
    await openEditor();
    await expect.poll(() => editor.innerText()).toContain("evt_edited");
    await page.getByRole("button", { name: "Undo all" }).click();
    await expect.poll(() => editor.innerText()).toContain('"Before"');
  });

  test("an open delivery is replaced by an error, not by the previous delivery, if it cannot be read", async () => {
    await bench.deliver({ type: "email.sent" });
    await openDelivery({ type: "email.failed" });
    await page.getByRole("heading", { level: 2, name: "email.failed" }).waitFor();
    await bench.dev.close();
    await page.getByText("lost, trying again").waitFor();
    await page.keyboard.press("j");
    await page.getByText("This delivery could not be read. The dev server does not answer.").waitFor();
    await expect.poll(() => page.getByRole("heading", { level: 2 }).count()).toBe(0);
    for (const key of ["r", "r", "r"]) await page.keyboard.press(key);
    const notice = page.locator(".notice");
    await notice.first().waitFor();
    await page.waitForTimeout(300);
    await expect.poll(() => notice.allInnerTexts()).toEqual(["The dev server does not answer. Is it still running?"]);
    await page.keyboard.press("k");
    await page.getByText("This delivery could not be read.").waitFor();
    // What the browser notes of requests that nobody answered.
    problems().length = 0;
  });

  test("an open delivery distinguishes an app that is down from one that answers", async () => {
    await bench.stopApp();
    await openDelivery();
    await tab("Answer").click();
    await page.getByRole("tabpanel").locator(".remark.bad").waitFor();
    await seeText(rows.locator(".answer"), "no answer");
    await tab("Handlers").click();
    await expect.poll(panelText).toMatch(/last answer: no answer\. It has not taken the event, so no handler/);
  });
});
