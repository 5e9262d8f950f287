/**
 * Whether a login answers in place of the server, by asking for what everybody gets who is signed in: a page in place
 * of data, a refusal, or a redirect to another host.
 */
export async function isSignedOut(session: string): Promise<boolean> {
  try {
    const response = await fetch(session, { credentials: "same-origin" });
    return response.status === 401 || response.status === 403 || isPage(response);
  } catch {
    return isRedirected(session);
  }
}

/** The page's security policy refuses a redirect to another host, which looks as if nothing had answered. */
export async function isRedirected(session: string): Promise<boolean> {
  try {
    const { type } = await fetch(session, { credentials: "same-origin", redirect: "manual" });
    return type === "opaqueredirect";
  } catch {
    return false;
  }
}

/** A success without data, such as the form of a login. */
export function isPage(response: Response): boolean {
  return response.ok && !/^application\/json\b/i.test(response.headers.get("content-type") ?? "");
}
