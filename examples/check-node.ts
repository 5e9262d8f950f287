// Imported first by each example: this repository's better-sqlite3 needs Node 22.14. `npx tsx` brings the repository's
// own Node 24.
if (Number(process.versions.napi) < 10) {
  console.error(
    `The examples need Node 22.14 or later, and this is ${process.version}. Run them with npx tsx, which uses Node 24.`,
  );
  process.exit(1);
}
