import { Component, createElement, type ComponentChild, type FunctionComponent } from "preact";

/** A component that is rendered again only when one of its props has changed. */
export function memo<Options extends object>(draw: FunctionComponent<Options>): FunctionComponent<Options> {
  class Memo extends Component<Options> {
    override shouldComponentUpdate(next: Options): boolean {
      const before: Partial<Options> = this.props;
      return (Object.keys(next) as (keyof Options)[]).some((name) => next[name] !== before[name]);
    }

    override render(): ComponentChild {
      return createElement(draw, this.props);
    }
  }
  return Memo as unknown as FunctionComponent<Options>;
}
