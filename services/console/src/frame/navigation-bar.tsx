import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Scope } from "../api/scope.js";
import { classes } from "../control/classes.js";
import { Icon } from "../control/icon.js";
import { PLACES, SCOPE_PATH } from "./navigation.js";
import styles from "./navigation-bar.module.css";
import { ScopeChooser } from "./scope-chooser.js";

/** Navigation at the left; at the bottom of a phone. */
export function Navigation({ scope }: { readonly scope: Scope | undefined }) {
  return (
    <nav className={styles.navigation} aria-label="Main">
      <Link to="/" className={styles.brand}>
        <Logo />
        flyte-ts
      </Link>
      <ScopeChooser scope={scope} />
      {scope !== undefined &&
        PLACES.map(({ to, title, icon, isWide = false, group }) => (
          <Fragment key={title}>
            {group !== undefined && <span className={styles.group}>{group}</span>}
            <Link
              to={`${SCOPE_PATH}${to}`}
              params={scope}
              className={classes(styles.place, isWide && styles.wide)}
              activeOptions={{ exact: to === "", includeSearch: false }}
              activeProps={{ className: styles.current, "aria-current": "page" }}
            >
              <Icon name={icon} />
              <span>{title}</span>
            </Link>
          </Fragment>
        ))}
    </nav>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 20 20" className={styles.logo} aria-hidden="true">
      <path d="M10 2 18 17l-8-3.500L2 17z" />
      <path d="M10 2v11.500L2 17z" className={styles.shade} />
    </svg>
  );
}
