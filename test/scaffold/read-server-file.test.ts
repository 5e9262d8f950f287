import { expect, test } from "vitest";
import { readServerFile } from "#pigeonhole/scaffold/mount/read-server-file.js";

test.each(["./app", "./(web)/app", "./[id]/app", "./a+b$c/app", "./a|b{2}/app*^?"])(
  "the file that lets an app listen is read where it imports the app from %s",
  (path) => {
    const text = `import { app } from "${path}.js";\n\napp.listen(3000);\n`;
    expect(readServerFile(text, path)).toMatchObject({ kind: "esm", importAt: text.indexOf("\n") + 1 });
  },
);
