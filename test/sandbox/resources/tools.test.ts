import { createSandbox } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { errorOf, refusalOf } from "../../support/error-of.js";
import { KEYS, openWorld } from "./support.js";
import type { DomainRecords } from "#pigeonhole/sandbox/resources/domain-records.js";

const DOMAIN = "shop.example";
const ENFORCED = "v=DMARC1; p=reject; rua=mailto:d@shop.example";
const LOGO = "v=BIMI1; l=https://shop.example/logo.svg; a=https://shop.example/vmc.pem";

function openTools(...domainRecords: DomainRecords[]) {
  const { sandbox, clientOf } = openWorld({ domainRecords });
  return { sandbox, clientOf, tools: clientOf(KEYS.none).tools };
}

describe("the domain of a record check", () => {
  test.each([
    ["shop.example"],
    [" SHOP.example. "],
    ["Ada@Shop.Example"],
    ["mailto:ada@shop.example"],
    ["https://shop.example:8443/path?q=ada@elsewhere.example"],
    ["https://ada:secret@shop.example"],
    ["shop.example/contact"],
  ])("%s is read as its domain", async (text) => {
    const { tools } = openTools({ domain: DOMAIN, dmarc: ENFORCED });
    expect(await tools.dmarc({ domain: text })).toMatchObject({ domain: DOMAIN, stage: "reject" });
  });

  test("a domain in another alphabet is read as DNS has it", async () => {
    expect(await openTools().tools.dmarc({ domain: "bücher.example" })).toMatchObject({
      domain: "xn--bcher-kva.example",
    });
  });

  test.each(["localhost", "192.0.2.1", "https://[2001:db8::1]/", "a..example", "-a.example", "a b.example", "@"])(
    "%s does not read as a domain",
    async (domain) => {
      const { tools } = openTools();
      for (const check of [tools.dmarc, tools.bimi, tools.deliverability]) {
        expect(await refusalOf(() => check({ domain }))).toEqual({
          status: 422,
          code: "invalid_parameter",
          param: "domain",
        });
      }
    },
  );
});

describe("DMARC", () => {
  test.each([
    [undefined, "missing"],
    ["v=DMARC1; p=none; rua=mailto:d@shop.example", "monitor"],
    ["v=DMARC1;p=Quarantine;", "quarantine"],
    [ENFORCED, "reject"],
    ["v=DMARC1", "invalid"],
    ["v=DMARC1; p=maybe", "invalid"],
    ["p=reject; v=DMARC1", "invalid"],
    ["v=DMARC1; p=none; p=reject", "invalid"],
    ["v=DMARC1; reject", "invalid"],
  ])("the record %s is of the stage %s", async (dmarc, stage) => {
    const { tools } = openTools({ domain: DOMAIN, dmarc });
    const report = await tools.dmarc({ domain: DOMAIN });
    expect(report).toMatchObject({ stage, record: dmarc ?? null, inheritedFrom: null });
    expect(report.issues.length > 0).toBe(stage !== "reject");
  });

  test("a report has every tag, and names a policy that does not hold for all mail", async () => {
    const { tools } = openTools({ domain: DOMAIN, dmarc: "v=DMARC1; P=reject; pct=20; rua=mailto:d@shop.example" });
    const { tags, issues } = await tools.dmarc({ domain: DOMAIN });
    expect(tags).toEqual({ v: "DMARC1", p: "reject", pct: "20", rua: "mailto:d@shop.example" });
    expect(issues).toEqual(["The policy holds for 20 % of the mail that fails."]);
  });

  test("a domain without a record has that of its organisational domain, with the policy for subdomains", async () => {
    const { tools } = openTools(
      { domain: DOMAIN, dmarc: "v=DMARC1; p=reject; sp=none" },
      { domain: "mail.shop.example", dmarc: "v=DMARC1; p=quarantine" },
    );
    const read = async (domain: string) => {
      const { stage, inheritedFrom } = await tools.dmarc({ domain });
      return [stage, inheritedFrom];
    };
    expect(await read(DOMAIN)).toEqual(["reject", null]);
    expect(await read("mail.shop.example")).toEqual(["quarantine", null]);
    expect(await read("a.mail.shop.example")).toEqual(["monitor", DOMAIN]);
    expect(await read("elsewhere.example")).toEqual(["missing", null]);
  });
});

describe("BIMI", () => {
  test.each<[string, Partial<DomainRecords>, string, object]>([
    ["no record", { dmarc: ENFORCED }, "absent", { record: null, logoReachable: null }],
    ["a logo and an enforced policy", { dmarc: ENFORCED, bimi: LOGO, logoSvg: "<svg/>" }, "present", { issues: [] }],
    ["a logo that is not there", { dmarc: ENFORCED, bimi: LOGO }, "partial", { logoSvg: null, logoReachable: false }],
    [
      "a policy of none",
      { dmarc: "v=DMARC1; p=none", bimi: LOGO, logoSvg: "<svg/>" },
      "partial",
      { dmarcPolicy: "none", dmarcEnforced: false, logoSvg: "<svg/>", logoReachable: true },
    ],
    ["no policy", { bimi: LOGO, logoSvg: "<svg/>" }, "partial", { dmarcPolicy: null, dmarcEnforced: false }],
    ["a logo over http", { dmarc: ENFORCED, bimi: "v=BIMI1; l=http://a.example/l.svg" }, "invalid", { logoUrl: null }],
    ["another version", { dmarc: ENFORCED, bimi: "v=BIMI2; l=https://a.example/l.svg" }, "invalid", {}],
  ])("%s", async (_, records, status, more) => {
    const { tools } = openTools({ domain: DOMAIN, ...records });
    const report = await tools.bimi({ domain: DOMAIN });
    expect(report).toMatchObject({ status, record: records.bimi ?? null, ...more });
    if (status === "present") {
      const urls = { logoUrl: "https://shop.example/logo.svg", authorityUrl: "https://shop.example/vmc.pem" };
      expect(report).toMatchObject({ ...urls, dmarcPolicy: "reject", dmarcEnforced: true });
    } else expect(report.issues).not.toEqual([]);
  });
});

describe("deliverability", () => {
  const GOOD = {
    domain: DOMAIN,
    mx: ["aspmx.l.google.com."],
    spf: "v=spf1 include:_spf.google.com ~all",
    dkim: "k=rsa; p=MIIB",
    dmarc: ENFORCED,
    bimi: LOGO,
    logoSvg: "<svg/>",
  };

  test.each<[Partial<DomainRecords>, number, string, string]>([
    [{}, 100, "A", "pass pass pass pass pass"],
    [{ bimi: undefined }, 95, "A", "pass pass pass pass absent"],
    [{ dmarc: "v=DMARC1; p=none" }, 85, "B", "pass pass pass warn warn"],
    [{ spf: "v=spf1 ?all" }, 88, "B", "pass warn pass pass pass"],
    [{ spf: "v=spf1 +all" }, 75, "C", "pass fail pass pass pass"],
    [{ spf: "v=spf1 all" }, 75, "C", "pass fail pass pass pass"],
    [{ spf: "spf1 -all" }, 75, "C", "pass fail pass pass pass"],
    [{ dkim: "v=DKIM1; p=" }, 75, "C", "pass pass fail pass pass"],
    [{ dkim: "MIIB" }, 75, "C", "pass pass fail pass pass"],
    [{ mx: [] }, 80, "B", "absent pass pass pass pass"],
    [{ spf: undefined, dkim: undefined }, 50, "E", "pass absent absent pass pass"],
    [{ mx: [], spf: undefined, dmarc: undefined, bimi: "v=BIMI1" }, 25, "F", "absent absent pass absent fail"],
  ])("records with %j score %i", async (changes, score, grade, statuses) => {
    const { tools } = openTools({ ...GOOD, ...changes });
    const report = await tools.deliverability({ domain: DOMAIN });
    expect(report).toMatchObject({ score, grade, provider: changes.mx === undefined ? "google" : null });
    expect(report.checks.map(({ status }) => status).join(" ")).toBe(statuses);
    expect(report.checks.map(({ id, label }) => `${id} ${label}`)).toEqual(
      ["mx", "spf", "dkim", "dmarc", "bimi"].map((id) => `${id} ${id.toUpperCase()}`),
    );
    for (const { verdict } of report.checks) expect(verdict).toMatch(/^[A-Z].*\.$/);
  });
});

describe("the table of domains", () => {
  test("the domain of the samples is in the table, and any other domain has no records", async () => {
    const { tools } = openWorld().clientOf(KEYS.narrow);
    expect(await tools.deliverability({ domain: "support@acme.example.com" })).toMatchObject({ score: 95 });
    expect(await tools.deliverability({ domain: "google.com" })).toMatchObject({ score: 0, grade: "F" });
  });

  test("records are changed while the sandbox runs, and a reset brings those of the options back", async () => {
    const { sandbox, tools } = openTools({ domain: DOMAIN, dmarc: ENFORCED });
    sandbox.setDomainRecords({ domain: DOMAIN.toUpperCase(), spf: "v=spf1 -all" });
    expect(await tools.dmarc({ domain: DOMAIN })).toMatchObject({ stage: "missing" });
    expect(sandbox.rows("tools")).toMatchObject([{ domain: DOMAIN, spf: "v=spf1 -all" }]);
    sandbox.reset();
    expect(await tools.dmarc({ domain: DOMAIN })).toMatchObject({ stage: "reject" });
  });

  test("a check is unreachable too when DNS does not answer for the organisational domain that it asks", async () => {
    const { tools } = openTools(
      { domain: DOMAIN, unreachable: true },
      { domain: "own.shop.example", dmarc: ENFORCED, bimi: LOGO, logoSvg: "<svg/>" },
    );
    for (const check of [tools.dmarc, tools.bimi, tools.deliverability]) {
      const refusal = await refusalOf(() => check({ domain: "mail.shop.example" }));
      expect(refusal).toMatchObject({ status: 503, code: "unreachable" });
    }
    expect(await tools.dmarc({ domain: "own.shop.example" })).toMatchObject({ stage: "reject", inheritedFrom: null });
    expect(await tools.bimi({ domain: "own.shop.example" })).toMatchObject({ status: "present" });
  });

  test.each([
    { domain: "localhost" },
    { domain: 5 },
    { domain: DOMAIN, spf: [] },
    { domain: DOMAIN, mx: [5] },
    { domain: DOMAIN, dmark: "" },
    {},
  ])("an entry that cannot be is refused: %j", async (entry) => {
    expect((await errorOf(() => createSandbox({ domainRecords: [entry as never] }))).code).toBe("invalid_option");
    const { sandbox } = openTools();
    expect((await errorOf(() => sandbox.setDomainRecords(entry as never))).code).toBe("invalid_option");
  });
});
