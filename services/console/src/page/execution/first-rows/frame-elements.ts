import type { Scope } from "../../../api/scope.js";
import { classes } from "../../../control/classes.js";
import { ICON_PATHS, type IconName } from "../../../control/icon-paths.js";
import icons from "../../../control/icon.module.css";
import breadcrumb from "../../../frame/breadcrumb.module.css";
import { crumbsOf } from "../../../frame/crumbs.js";
import frame from "../../../frame/frame.module.css";
import { PLACES } from "../../../frame/navigation.js";
import navigation from "../../../frame/navigation-bar.module.css";
import chooser from "../../../frame/scope-chooser.module.css";
import topBar from "../../../frame/top-bar.module.css";
import { element, named, svg } from "./element.js";

/** Makes the frame of a page of executions, with the styles of `frame.tsx`. */
export function frameElement(path: string, scope: Scope, page: HTMLElement): HTMLElement {
  return element(
    frame.frame,
    navigationElement(scope),
    element(topBar.bar, breadcrumbElement(path, scope)),
    element(frame.main, element(frame.page, page)),
  );
}

function navigationElement({ project, domain }: Scope): HTMLElement {
  const places = PLACES.flatMap(({ to, title, icon, isWide = false, group }) => [
    ...(group === undefined ? [] : [named("span", navigation.group, group)]),
    element(
      classes(navigation.place, isWide && navigation.wide, to === "/executions" && navigation.current),
      iconElement(icon, icons.icon),
      named("span", undefined, title),
    ),
  ]);
  const logo = svg(
    "svg",
    { viewBox: "0 0 20 20", class: navigation.logo },
    svg("path", { d: "M10 2 18 17l-8-3.500L2 17z" }),
    svg("path", { d: "M10 2v11.500L2 17z", class: navigation.shade }),
  );
  const chosen = named("span", chooser.text, named("b", undefined, project), named("small", undefined, domain));
  return element(
    navigation.navigation,
    element(navigation.brand, logo, "flyte-ts"),
    element(chooser.chooser, chosen, iconElement("chevrons", icons.small)),
    ...places,
  );
}

function breadcrumbElement(path: string, scope: Scope): HTMLElement {
  const crumbs = crumbsOf(path, scope);
  const parts = crumbs.flatMap(({ title }, index) => [
    ...(index > 0 ? [iconElement("chevronRight", icons.small)] : []),
    named(index === crumbs.length - 1 ? "b" : "span", index === crumbs.length - 1 ? breadcrumb.current : breadcrumb.crumb, title),
  ]);
  return element(breadcrumb.breadcrumb, ...parts);
}

function iconElement(name: IconName, className: string | undefined): SVGElement {
  return svg("svg", { viewBox: "0 0 16 16", class: className }, svg("path", { d: ICON_PATHS[name] }));
}
