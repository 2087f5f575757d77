import { Link, useRouterState } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Scope } from "../api/scope.js";
import { Icon } from "../control/icon.js";
import styles from "./breadcrumb.module.css";
import { crumbsOf } from "./crumbs.js";

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
