import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPlace, usualPlaces } from "#pigeonhole/cli/values/inbox-place.js";
import { makeFolder } from "../support/folder.js";

const PASSWORD = "canary-of-the-password";
const URL_WITH_PASSWORD = `postgres://app:${PASSWORD}@db/app?sslmode=require`;

type Context = Parameters<typeof usualPlaces>[0];

function contextOf(env: Record<string, string> = {}, file?: string): Context {
  const cwd = makeFolder();
  if (file !== undefined) writeFileSync(join(cwd, ".env"), file);
  return { env, cwd } as Context;
}

test.each<[string, Record<string, string>, string]>([
  ["inbox.db", {}, " --db inbox.db"],
  ["my inbox.db", {}, " --db 'my inbox.db'"],
  ["env:MAIL_URL", { MAIL_URL: URL_WITH_PASSWORD }, " --db env:MAIL_URL"],
  ["postgres://app@db/app?sslmode=require", {}, " --db 'postgres://app@db/app?sslmode=require'"],
  [URL_WITH_PASSWORD, {}, " --db env:INBOX_URL"],
  [URL_WITH_PASSWORD, { DATABASE_URL: "postgres://app@other/app" }, " --db env:INBOX_URL"],
  [URL_WITH_PASSWORD, { MAIL_URL: URL_WITH_PASSWORD }, " --db env:MAIL_URL"],
  [`postgres://app@db/app?sslpassword=${PASSWORD}`, {}, " --db env:INBOX_URL"],
  [`postgres://app:${PASSWORD}@db:port/app`, {}, " --db env:INBOX_URL"],
])("a printed command finds the database of --db %j, without its password", (text, env, flag) => {
  expect(readPlace("--db", text, contextOf(env)).flag).toBe(flag);
});

test.each<[string, Record<string, string>, string | undefined, string[]]>([
  ["of no variable", {}, undefined, [""]],
  ["of DATABASE_FILE in .env", {}, "DATABASE_FILE=data/inbox.db", [""]],
  [
    "of DATABASE_FILE in the environment, which another shell may lack",
    { DATABASE_FILE: "in box.db" },
    undefined,
    [" --db 'in box.db'"],
  ],
  ["of DATABASE_URL", { DATABASE_URL: URL_WITH_PASSWORD }, undefined, [""]],
])("a printed command finds the database %s", (_, env, file, flags) => {
  expect(usualPlaces(contextOf(env, file)).map(({ flag }) => flag)).toEqual(flags);
});
