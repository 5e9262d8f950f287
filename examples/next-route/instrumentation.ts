// instrumentation.ts of a Next.js app: work that an earlier process left is taken up at the start, not at the next
// delivery.

export async function register(): Promise<void> {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const { openReceiver } = await import("./receiver.js");
  await openReceiver();
}
