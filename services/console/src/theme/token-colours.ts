import { useEffect, useState } from "react";

/** Values of colour tokens, which drawings need as plain colours, by their names without dashes. */
export type TokenColours<Name extends string> = Readonly<Record<Name, string>>;

/** Reads tokens such as `ok` as the theme resolves them now. */
export function readTokenColours<Name extends string>(names: readonly Name[], root = document.documentElement): TokenColours<Name> {
  const probes = document.createElement("span");
  probes.hidden = true;
  for (const name of names) {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    probes.append(probe);
  }
  root.append(probes);
  const colours = Object.fromEntries(
    names.map((name, index) => [name, getComputedStyle(probes.children[index] as Element).color]),
  ) as Record<Name, string>;
  probes.remove();
  return colours;
}

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
