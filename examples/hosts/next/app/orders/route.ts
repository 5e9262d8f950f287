export async function POST(request: Request): Promise<Response> {
  return Response.json({ order: await request.json() });
}
