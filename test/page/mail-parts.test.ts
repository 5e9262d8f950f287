import { expect, test } from "vitest";
import { mailPeople, withoutStyles } from "../../src/page/message/mail-parts.js";

test("a field of a mail names people, and a list in a list names nobody, however deep it is", () => {
  expect(mailPeople("ada@example.com")).toBe("ada@example.com");
  expect(mailPeople(["ada@example.com", { name: "Bob", address: "bob@example.com" }])).toBe(
    "ada@example.com, Bob · bob@example.com",
  );
  const deep: unknown = JSON.parse("[".repeat(50_000) + "]".repeat(50_000));
  expect(mailPeople(deep)).toBe("");
});

test.each([
  ["<p>Set style=dark in the settings</p>", "<p>Set style=dark in the settings</p>"],
  ['<p style="color: red">1 < 2, style = x</p>', '<p data-style="color: red">1 < 2, style = x</p>'],
  ["<p title='a > b' STYLE = \"top: 0\">a</p>", "<p title='a > b' data-style= \"top: 0\">a</p>"],
  [
    "<style>p { top: 0 }</style>it's <b/style='a'>b</b>",
    "<template>p { top: 0 }</template>it's <b/data-style='a'>b</b>",
  ],
])("only the styles in the tags of %s have other names", (html, plain) => {
  expect(withoutStyles(html)).toBe(plain);
});
