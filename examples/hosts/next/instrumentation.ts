// Work that an earlier process left is taken up at the start, not at the next delivery.

export async function register(): Promise<void> {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const { openReceiver } = await import("./lib/receiver");
  await openReceiver();
}
