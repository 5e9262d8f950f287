// Next.js 16. Both are loaded by Node as they are: a thread of its own and a native module do not survive a bundler.

export default { serverExternalPackages: ["pigeonhole", "better-sqlite3"] };
