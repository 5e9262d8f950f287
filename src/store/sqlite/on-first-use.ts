/**
 * What is made when it is first asked for. Most statements are of operations that a process seldom needs, and preparing all of them
 * takes longer than all else that opens a file.
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
