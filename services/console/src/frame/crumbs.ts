import type { Scope } from "../api/scope.js";
import { PLACES } from "./navigation.js";

interface Crumb {
  /** Path below the base of the router. */
  readonly to: string;
  readonly title: string;
}

/** Returns the crumbs of a path below the base of the router. */
export function crumbsOf(path: string, scope: Scope | undefined): readonly Crumb[] {
  if (scope === undefined) return [{ to: "/projects", title: "Projects" }];
  const base = `/projects/${encodeURIComponent(scope.project)}/domains/${encodeURIComponent(scope.domain)}`;
  const [list = "", name] = path
    .replace(/^\/console/, "")
    .slice(base.length + 1)
    .split("/");
  const place = PLACES.find(({ to }) => to === (list === "" ? "" : `/${list}`));
  const launch = list === "launch" ? [{ to: path, title: "Launch" }] : [];
  return [
    { to: `${base}/executions`, title: scope.project },
    { to: base, title: scope.domain },
    ...(place === undefined ? [] : [{ to: `${base}/${list}`, title: place.title }]),
    ...launch,
    ...(name === undefined || name === "" ? [] : [{ to: path, title: decodeURIComponent(name) }]),
  ];
}
