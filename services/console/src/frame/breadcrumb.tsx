import { Link, useRouterState } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Scope } from "../api/scope.js";
import { Icon } from "../control/icon.js";
import styles from "./breadcrumb.module.css";
import { PLACES } from "./navigation.js";

/** Way from the project to the page. */
export function Breadcrumb({ scope }: { readonly scope: Scope | undefined }) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const crumbs = crumbsOf(path, scope);
  return (
    <nav aria-label="Breadcrumb" className={styles.breadcrumb}>
      {crumbs.map(({ to, title }, index) => (
        <Fragment key={to}>
          {index > 0 && <Icon name="chevronRight" small />}
          {index === crumbs.length - 1 ? (
            <b aria-current="page" className={styles.current}>
              {title}
            </b>
          ) : (
            <Link to={to} className={styles.crumb}>
              {title}
            </Link>
          )}
        </Fragment>
      ))}
    </nav>
  );
}

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
