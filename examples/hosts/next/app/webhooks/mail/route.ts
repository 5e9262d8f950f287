import { openReceiver } from "../../../lib/receiver";

export const runtime = "nodejs"; // the inbox is a file

export const POST = async (request: Request): Promise<Response> => (await openReceiver()).fetch(request);
