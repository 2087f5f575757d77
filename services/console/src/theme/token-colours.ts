import { useEffect, useState } from "react";
import { readTokenColours, type TokenColours } from "./read-token-colours.js";

/** Returns the values of tokens, and new ones when the theme changes; `names` must not change. */
export function useTokenColours<Name extends string>(names: readonly Name[]): TokenColours<Name> {
  const [colours, setColours] = useState(() => readTokenColours(names));
  useEffect(() => {
    const update = (): void => setColours(readTokenColours(names));
    const observer = new MutationObserver(update);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", update);
    return () => {
      observer.disconnect();
      system.removeEventListener("change", update);
    };
  }, [names]);
  return colours;
}
