// Fails on a Node that better-sqlite3 13 does not run on; the npm scripts that ask say what to do.
process.exit(Number(process.versions.napi) < 10 ? 1 : 0);
