import { createClient } from "pigeonhole/client";
import type { SandboxOptions } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { START } from "../support.js";
import { KEYS, SUPPORT, openWorld } from "./support.js";

const ADA = "ada@customer.example.com";
const NEWS = { id: "aud_news", name: "News" };

function openWorkspace(options: SandboxOptions = {}) {
  const fired: string[] = [];
  const called = new Set<string>();
  const world = openWorld({
    contacts: [],
    audiences: [NEWS],
    chats: [{ title: "a" }],
    onLog: (entry) => {
      if (entry.kind === "event") fired.push(entry.type);
      if (entry.kind === "api" && (entry.call.status ?? 500) < 300) called.add(String(entry.call.call));
    },
    ...options,
  });
  const client = createClient({ ...world.sandbox.clientOptions, apiKey: KEYS.full });
  return { ...world, client, fired, called };
}

describe("what the API does fires what is documented", () => {
  test("of all calls, those on uploads and sign-ups alone fire events, with what the API knows as their data", async () => {
    const { client, sandbox, fired, called } = openWorkspace();
    const { chats, contacts, contactEvents, drafts, files, forms, labels, signatures, webhooks } = client;
    const firedBy = async (work: () => Promise<unknown>): Promise<string[]> => {
      fired.length = 0;
      await work();
      return fired;
    };
    const silent = async () => {
      const endpoint = await webhooks.create({ url: "http://127.0.0.1:1/" });
      await webhooks.update(endpoint.id, { description: "d" });
      await webhooks.rotateSecret(endpoint.id);
      await webhooks.test(endpoint.id);
      const [row] = (await webhooks.deliveries(endpoint.id)).items;
      await webhooks.replay(endpoint.id, row?.id ?? "");
      await webhooks.delete(endpoint.id);
      await contacts.create({ email: ADA });
      await contacts.update(ADA, { notes: "n" });
      await contacts.setAudiences(ADA, { audienceIds: [NEWS.id] });
      await contactEvents.send({ name: "a", email: ADA });
      await contactEvents.sendBatch([{ name: "a", email: "b@x.example", createContact: true }]);
      await contacts.delete(ADA);
      await contacts.deleteMany({ addresses: ["b@x.example"] });
      const [chat] = (await chats.list()).items;
      await chats.rename(chat?.id ?? "", { title: "b" });
      await chats.delete(chat?.id ?? "");
      const label = await labels.create({ name: "a" });
      await labels.update(label.id, { name: "b" });
      await labels.delete(label.id);
      const draft = await drafts.create({ to: [ADA], from: SUPPORT });
      await drafts.update(draft.id, { subject: "s" });
      await drafts.delete(draft.id);
      const signature = await signatures.create({ address: SUPPORT, name: "a", html: "<p>a</p>" });
      await signatures.update(signature.id, { name: "b" });
      await signatures.copy(signature.id, { addresses: ["hello@acme.example.com"] });
      await signatures.delete(signature.id);
      const form = await forms.create({ name: "a" });
      await forms.update(form.id, { name: "b" });
      await forms.publish(form.id);
      await forms.pause(form.id);
      await forms.redesign(form.id, { instructions: "i" });
      await forms.copy(form.id, {});
      await forms.delete(form.id);
      await forms.design({ brief: "b" });
    };
    expect(await firedBy(silent)).toEqual([]);

    const kept: string[] = [];
    const onFiles = async () => {
      for (const filename of ["a", "b", "c"]) kept.push((await files.upload(new Uint8Array(1), { filename })).id);
      const [a = "", b = "", c = ""] = kept;
      const link = await files.createLink(a, {});
      await files.deleteMany({ ids: [a, b, b, "file_none"] });
      await files.revokeLink(a, link.id);
      await files.revokeLinks(a);
      await files.delete(c);
    };
    const uploaded = "file.uploaded";
    expect(await firedBy(onFiles)).toEqual([uploaded, uploaded, uploaded, "file.deleted", "file.deleted"]);

    const settings = { doubleOptIn: true, senderAddress: SUPPORT };
    const form = await forms.create({ name: "a", settings, publish: true });
    const signUp = async () => {
      await forms.subscribe(form.id, { email: ADA });
      await forms.subscribe(form.id, { email: ADA });
      sandbox.confirmSignUp(form.id, ADA);
    };
    expect(await firedBy(signUp)).toEqual(["form.submitted", "form.confirmed"]);

    const changing = listOperations().filter(({ operation }) => operation.method !== "GET");
    expect([...called]).toEqual(expect.arrayContaining(changing.map(({ resource, name }) => `${resource}.${name}`)));
  });

  test("an event of a sign-up has the data of the sign-up alone, as it was when it was fired", async () => {
    const bodies: { type: string; createdAt: string; data: object }[] = [];
    const { client, sandbox } = openWorkspace({
      receive: async (request) => {
        bodies.push((await request.json()) as (typeof bodies)[number]);
        return new Response();
      },
    });
    await client.webhooks.create({ url: "http://127.0.0.1/", eventTypes: ["form.submitted", "form.confirmed"] });
    const settings = { doubleOptIn: true, senderAddress: SUPPORT, audienceIds: [NEWS.id] };
    const form = await client.forms.create({ name: "News", settings, publish: true });
    await client.forms.subscribe(form.id, { email: ADA });
    sandbox.confirmSignUp(form.id, ADA);
    await sandbox.settle();
    const at = new Date(START).toISOString();
    const data = {
      formId: form.id,
      formName: "News",
      email: ADA,
      answers: { email: ADA },
      audienceIds: [NEWS.id],
      doubleOptIn: true,
      source: null,
      submittedAt: at,
    };
    expect(bodies.map(({ type, data: sent }) => [type, sent])).toEqual([
      ["form.submitted", { ...data, outcome: "pending" }],
      ["form.confirmed", { ...data, outcome: "added", confirmedAt: at }],
    ]);
  });
});
