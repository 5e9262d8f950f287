// Imported first by each example: this repository's better-sqlite3 needs Node 22. `npx tsx` brings the repository's own Node 24.
if (Number(process.versions.node.split(".")[0]) < 22) {
  console.error(
    `The examples need Node 22 or later, and this is ${process.version}. Run them with npx tsx, which uses Node 24.`,
  );
  process.exit(1);
}
