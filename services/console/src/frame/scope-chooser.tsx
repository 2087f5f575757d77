import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Scope } from "../api/scope.js";
import { Icon } from "../control/icon.js";
import { Menu, type MenuItem } from "../control/menu.js";
import { useApp } from "../app/app.js";
import { projectsQuery } from "./queries.js";
import { SCOPE_PATH } from "./navigation.js";
import styles from "./scope-chooser.module.css";

/** Chooser of project and domain, whose list is loaded when it is opened. */
export function ScopeChooser({ scope }: { readonly scope: Scope | undefined }) {
  const app = useApp();
  const navigate = useNavigate();
  const [wanted, setWanted] = useState(false);
  const { data, error } = useQuery({ ...projectsQuery(app), enabled: wanted });
  const items: MenuItem[] = (data?.projects ?? []).flatMap(({ id = "", name, domains = [] }) =>
    domains.map(({ id: domain = "" }, index) => ({
      id: `${id}/${domain}`,
      text: domain,
      ...(index === 0 && { group: name ?? id }),
      checked: scope?.project === id && scope.domain === domain,
      run: () => void navigate({ to: `${SCOPE_PATH}/executions`, params: { project: id, domain }, search: {} }),
    })),
  );
  const all = { id: "all", text: "All projects", icon: "box", run: () => void navigate({ to: "/projects" }) } as const;
  const waiting = {
    id: "waiting",
    text: error?.message ?? "Loading projects …",
    refused: "Projects are being loaded",
    run: () => undefined,
  };
  return (
    <Menu
      label="Project and domain"
      items={[...(items.length > 0 ? items : [waiting]), all]}
      onOpen={() => setWanted(true)}
      trigger={(props) => (
        <button type="button" className={styles.chooser} {...props}>
          <span className={styles.text}>
            <b>{scope?.project ?? "Choose a project"}</b>
            {scope !== undefined && <small>{scope.domain}</small>}
          </span>
          <Icon name="chevrons" small />
        </button>
      )}
    />
  );
}
