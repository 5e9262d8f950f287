/** Milliseconds of a processor that this process has used: what other programs use does not count. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
