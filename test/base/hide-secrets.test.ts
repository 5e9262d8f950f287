import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hideSecrets } from "#pigeonhole/base/hide-secrets.js";
import { cpuMs } from "../support/cpu-ms.js";

const ANY_TEXT = fc.string({ unit: "binary", maxLength: 60 });
const letters = (alphabet: string, lengths: { minLength: number; maxLength: number }) =>
  fc.string({ unit: fc.constantFrom(...alphabet.split("")), ...lengths });
const SMALL = "abcdefghijklmnopqrstuvwxyz";
const HEX = "0123456789abcdef";
const ALL = `${SMALL}${SMALL.toUpperCase()}0123456789`;

const SECRETS = {
  address: fc.emailAddress(),
  phone: fc
    .tuple(
      fc.integer({ min: 10, max: 99 }),
      fc.array(fc.integer({ min: 100, max: 9_999 }), { minLength: 2, maxLength: 3 }),
    )
    .map(([country, groups]) => `+${country} ${groups.join(" ")}`),
  token: letters(ALL, { minLength: 32, maxLength: 64 }).map((text) => `whsec_${text}`),
  bearer: letters(ALL, { minLength: 8, maxLength: 64 }).map((text) => `Bearer ${text}`),
  jwt: letters(ALL, { minLength: 8, maxLength: 64 }).map((text) => `eyJ${text}.eyJ${text}.${text}`),
  key: letters(HEX, { minLength: 32, maxLength: 64 }).map((text) => `a1b2${text}`),
  field: fc
    .tuple(
      fc.constantFrom("password", "api_key", "accessToken", "clientSecret"),
      letters(SMALL, { minLength: 3, maxLength: 20 }),
    )
    .map(([name, value]) => `{"${name}":"zq${value}"}`),
};
/** What must not be left of a secret: all of it, without what says of which kind it is. */
const partOf = (secret: string): string => /zq\w+|\+[\d ]+/.exec(secret)?.[0] ?? secret.replace(/^Bearer /, "");

describe("a text is shown without", () => {
  test.each(Object.entries(SECRETS))("any %s, whatever is around it", (_, secrets) => {
    fc.assert(
      fc.property(ANY_TEXT, secrets, ANY_TEXT, (before, secret, behind) => {
        expect(hideSecrets(`${before} ${secret} ${behind}`)).not.toContain(partOf(secret));
      }),
    );
  });

  test.each([
    ["to=jane.o'connor@secret.example;", "[address];"],
    [`"jane o'connor"@secret.example`, "[address]"],
    ["https://x.example/c/ada%40secret.example?x=1", "https:[address]?x=1"],
    ["bounce+jane=secret.example@lists.example.com", "[address]"],
    ["<jane@[192.0.2.1]> of jörg@müller.example.", "<[address]> of [address]."],
    ["from 203.0.113.9:443 and 2001:db8::1", "from [ip]:443 and [ip]"],
    ["(415) 555-2671, 0171 2345678, tel:+4930123456, 4155552671", "[phone], [phone], tel:[phone], [number]"],
    ["token=abc&x=1, api_key: s3cret99", "token=[token]&x=1, api_key: [token]"],
    [
      String.raw`{\"secret\":\"hush hush\"} {"access_token": 12345}`,
      String.raw`{\"secret\":\"[token]\"} {"access_token": [token]}`,
    ],
    ["postgres://user:hunter2@db.example:5432/x", "postgres://user:[password]@db.example:5432/x"],
    ["svc_live_0123456789 AKIAIOSFODNN7EXAMPLE", "[token] [token]"],
    ["-----BEGIN RSA PRIVATE KEY-----\nabc+/=\n-----END RSA PRIVATE KEY-----.", "[key]."],
  ])("secrets as they are written: %s", (text, shown) => {
    expect(hideSecrets(text)).toBe(shown);
  });
});

test.each([
  "connect ECONNREFUSED 10.0.0.7:5432 or 127.0.0.1 or ::1",
  "at 2026-11-28 12:30:45.123 and 2026-11-28T12:30:45.123Z, 1500 ms",
  "evt_01J8ABCDEFGHJKMNPQRSTV and 018f3c1e-1111-7222-8333-123456789abc",
  "Cannot find module '/app/dist/handlers/sendEmail2.js' of email-sender-handler-2-production",
  "Unexpected token: } here. password: required. UNIQUE constraint failed: contacts.email",
  "processTicksAndRejections INVALID_ARGUMENT_EXCEPTION_VALUE",
])("what says why code failed stays: %s", (text) => {
  expect(hideSecrets(text)).toBe(text);
});

test("a long text ends where a word does, before 10,000 characters", () => {
  const shown = hideSecrets(`${"word ".repeat(1_999)}jane@secret.example and more`);
  expect(shown).toBe(`${"word ".repeat(1_999)}…`);
  expect(hideSecrets("x".repeat(20_000))).toBe(`${"x".repeat(10_000)} …`);
});

test("no text takes long, whatever it repeats", () => {
  const parts = [
    "@",
    "a@",
    "a.",
    '"',
    "\\",
    "token",
    ":",
    "=",
    "://",
    "(12)-",
    "1",
    " ",
    "Bearer ",
    "-----BEGIN PRIVATE KEY-----",
    "eyJa",
    "%40",
    "'",
  ];
  const some = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(some, some, (repeated, end) => {
      const unit = repeated.join("");
      const startedAt = cpuMs();
      hideSecrets(unit.repeat(Math.ceil(10_000 / unit.length)).slice(0, 9_990) + end.join("").slice(0, 9));
      // A pattern that is not linear takes seconds.
      expect(cpuMs() - startedAt).toBeLessThan(500);
    }),
  );
});
