/** Frames of this package say nothing of where a handler threw. */
const INTERNAL = /^\s*at .*\/node_modules\/pigeonhole\//;

/** Lines of a stack without frames of this package, unless there are no others. */
export function ownFrames(lines: readonly string[]): readonly string[] {
  const own = lines.filter((line) => !INTERNAL.test(line));
  return own.some((line) => /^\s*at /.test(line)) ? own : lines;
}
