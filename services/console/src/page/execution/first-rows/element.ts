const SVG = "http://www.w3.org/2000/svg";

/** Makes an element of a class with its contents. */
export function element(className: string | undefined, ...contents: readonly (Node | string)[]): HTMLDivElement {
  return fill(document.createElement("div"), className, contents);
}

/** Makes an element with another name than `div`, for styles that depend on it. */
export function named(name: "b" | "small" | "span", className: string | undefined, ...contents: readonly (Node | string)[]): HTMLElement {
  return fill(document.createElement(name), className, contents);
}

/** Makes an element of SVG. */
export function svg(name: string, attributes: Readonly<Record<string, string | undefined>>, ...contents: readonly Node[]): SVGElement {
  const made = document.createElementNS(SVG, name) as SVGElement;
  for (const [attribute, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(attribute, value);
  made.append(...contents);
  return made;
}

function fill<Made extends HTMLElement>(made: Made, className: string | undefined, contents: readonly (Node | string)[]): Made {
  if (className !== undefined) made.className = className;
  made.append(...contents);
  return made;
}
