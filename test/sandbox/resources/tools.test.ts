import { createSandbox } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { errorOf, refusalOf } from "../../support/error-of.js";
import { KEYS, openWorld } from "./support.js";
import type { DomainReports } from "#pigeonhole/sandbox/resources/resource.js";

const DOMAIN = "shop.example";
const openTools = (...domainReports: DomainReports[]) => openWorld({ domainReports }).clientOf(KEYS.none).tools;

describe("the domain of a record check", () => {
  test.each([
    "shop.example",
    " SHOP.example. ",
    "Ada@Shop.Example",
    "mailto:ada@shop.example",
    "https://shop.example:8443/path?q=ada@elsewhere.example",
    "https://ada:secret@shop.example",
    "shop.example/contact",
  ])("%s is read as its domain", async (text) => {
    const tools = openTools({ domain: DOMAIN, dmarc: { stage: "reject" } });
    expect(await tools.dmarc({ domain: text })).toMatchObject({ domain: DOMAIN, stage: "reject" });
  });

  test("a domain in another alphabet is read as DNS has it", async () => {
    expect(await openTools().dmarc({ domain: "bücher.example" })).toMatchObject({ domain: "xn--bcher-kva.example" });
  });

  test.each(["localhost", "192.0.2.1", "https://[2001:db8::1]/", "a..example", "-a.example", "a b.example", "@"])(
    "%s does not read as a domain",
    async (domain) => {
      const tools = openTools();
      for (const check of [tools.dmarc, tools.bimi, tools.deliverability]) {
        const refusal = { status: 422, code: "invalid_parameter", param: "domain" };
        expect(await refusalOf(() => check({ domain }))).toEqual(refusal);
      }
    },
  );
});

describe("the reports of domains", () => {
  test("the domain of the samples is in order, and any other domain has no records", async () => {
    const { tools } = openWorld().clientOf(KEYS.narrow);
    const own = "support@acme.example.com";
    expect(await tools.dmarc({ domain: own })).toMatchObject({ stage: "quarantine", issues: [] });
    expect(await tools.deliverability({ domain: own })).toMatchObject({ score: 95, grade: "A" });
    const domain = "elsewhere.example";
    expect(await tools.dmarc({ domain })).toMatchObject({ domain, stage: "missing", record: null, tags: {} });
    expect(await tools.bimi({ domain })).toMatchObject({ status: "absent", record: null, dmarcEnforced: false });
    expect(await tools.deliverability({ domain })).toMatchObject({ score: 0, grade: "F", checks: [] });
  });

  test("each report has the fields that are given, and for the others those of a domain without records", async () => {
    const tools = openTools({
      domain: DOMAIN.toUpperCase(),
      bimi: { status: "partial", logoReachable: false },
      deliverability: { score: 40, grade: "F", checks: [{ id: "spf", label: "SPF", status: "fail" }] },
    });
    const bimi = { status: "partial", logoReachable: false, record: null };
    expect(await tools.bimi({ domain: DOMAIN })).toMatchObject(bimi);
    const { score, checks } = await tools.deliverability({ domain: DOMAIN });
    expect([score, checks]).toMatchObject([40, [{ id: "spf", status: "fail", verdict: null }]]);
    expect(await tools.dmarc({ domain: DOMAIN })).toMatchObject({ domain: DOMAIN, stage: "missing" });
  });

  test.each([
    { domain: "localhost" },
    { domain: 5 },
    { domain: DOMAIN, dmarc: { issues: "none" } },
    { domain: DOMAIN, deliverability: { score: "high" } },
    { domain: DOMAIN, dmark: {} },
    {},
  ])("an entry that cannot be is refused: %j", async (entry) => {
    expect((await errorOf(() => createSandbox({ domainReports: [entry as never] }))).code).toBe("invalid_option");
  });
});
