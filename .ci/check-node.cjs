// Fails on a Node that better-sqlite3 13 does not run on; the npm scripts that ask say what to do.
process.exit(Number(process.versions.node.split(".")[0]) < 22 ? 1 : 0);
