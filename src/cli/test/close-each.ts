/** Closes one after the other, each also when another fails. Rejects with the first error. */
export async function closeEach(closers: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closers) await close().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
