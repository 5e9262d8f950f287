// "./receiver" in a Next.js app, which looks for the file as it is written.
import { openReceiver } from "./receiver.js";

// app/webhooks/mail/route.ts of a Next.js app, or of any host that hands over a Request.

export const runtime = "nodejs"; // the inbox is a file
export const dynamic = "force-dynamic";

export async function POST(request: Request): Promise<Response> {
  try {
    const receiver = await openReceiver();
    return await receiver.fetch(request);
  } catch {
    // The service sends again after a 503; whatever else Next.js would answer could be final.
    return new Response(null, { status: 503, headers: { "retry-after": "30" } });
  }
}
