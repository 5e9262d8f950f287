/** Lets `3000/webhooks` stand for `127.0.0.1:3000/webhooks`; a URL parser would take the number for an address. */
export function shortTarget(text: string): string {
  return text.replace(
    /^((?:[\w.*,]+=)?):?(\d{1,5}\/)/,
    (_, types: string, rest: string) => `${types}127.0.0.1:${rest}`,
  );
}
