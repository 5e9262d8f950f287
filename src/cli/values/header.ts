/** Reads `Name: value`, as curl writes headers. */
export function header(text: string): [name: string, value: string] {
  const [, name, value] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(.*)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new Error('It must be a header such as "X-Svc-Signature: t=1,v1=…".');
}
