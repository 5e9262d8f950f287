/**
 * Makes a thing at the first call and returns the same one later. Most operations are rare, and preparing the
 * statements of all of them takes longer than everything else at the opening of a file.
 */
export function lazy<Thing extends object>(make: () => Thing): () => Thing {
  let made: Thing | undefined;
  return () => (made ??= make());
}

/** A function that is made when it is first called. */
export function onFirstUse<Input, Output>(make: () => (input: Input) => Output): (input: Input) => Output {
  const made = lazy(make);
  return (input) => made()(input);
}
